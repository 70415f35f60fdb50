/** Changes of alerts since a webhook's last message (SPEC D27.2). */
import type { Announced, ReportedItem, WebhookChange } from '../account/webhook.ts';
import { DAY } from '../clock.ts';
import type { Alert } from '../manage/alerts.ts';

/** Current alerts of a workspace or the service. */
export interface Found {
  readonly items: readonly Alert[];
  /** Whether the absence of an alert is certain. */
  isKnown(key: string): boolean;
}

/** Limits: alerts tracked per webhook, changes per message. Others follow in the next message. */
const MOST_ITEMS = 1000;
const MOST_CHANGES = 200;

export interface Difference {
  readonly changes: readonly WebhookChange[];
  readonly items: Announced['items'];
}

/** `now`: ms. */
export function differenceOf(announced: Announced['items'], { items, isKnown }: Found, now: number): Difference {
  const there = new Map<string, Alert>();
  // Processes may report different states of one alert: the worse one wins, which comes later in the alphabet.
  for (const item of items) if (!(there.has(item.key) && there.get(item.key)!.state >= item.state)) there.set(item.key, item);
  const [changes, after] = [[] as WebhookChange[], new Map(Object.entries(announced))];
  for (const [key, was] of Object.entries(announced)) {
    const { unknownSince, ...known } = was;
    if (there.has(key)) after.set(key, known);
    else if (!isKnown(key) && now < (unknownSince ?? now) + DAY) after.set(key, { ...known, unknownSince: unknownSince ?? now });
    else if (changes.length < MOST_CHANGES) {
      after.delete(key);
      changes.push({ key, is: 'ended', ...known, at: now });
    }
  }
  for (const { key, state, text, urgent } of there.values()) {
    const was: ReportedItem | undefined = after.get(key);
    if (was?.state === state || changes.length >= MOST_CHANGES) continue;
    if (was === undefined && after.size >= MOST_ITEMS) continue;
    after.set(key, { state, text, urgent });
    changes.push({ key, is: was === undefined ? 'began' : 'changed', state, text, urgent, at: now });
  }
  return { changes, items: Object.fromEntries(after) };
}
