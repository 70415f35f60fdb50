/** What has changed of what needs attention since a webhook was told (SPEC D27.2): pure functions. */
import type { ReportedItem, Told, WebhookChange } from '../account/webhook.ts';
import { DAY } from '../clock.ts';
import type { Alert } from '../manage/alerts.ts';

/** What needs attention now, of a workspace or of the service. */
export interface Found {
  readonly items: readonly Alert[];
  /** Whether it is known that something does not hold where it is not among them. */
  isKnown(key: string): boolean;
}

/** Things that a webhook is told of at one time, and changes of one message: the others come with the next. */
const MOST_ITEMS = 1000;
const MOST_CHANGES = 200;

/** What a message says, and what its receiver was told then. */
export interface Difference {
  readonly changes: readonly WebhookChange[];
  readonly items: Told['items'];
}

/** The changes between what was told and what is found at `now` (ms). */
export function differenceOf(told: Told['items'], { items, isKnown }: Found, now: number): Difference {
  const there = new Map<string, Alert>();
  // Several processes may see one thing at different moments: the worse word counts, which is the later one of the alphabet.
  for (const item of items) if (!(there.has(item.key) && there.get(item.key)!.state >= item.state)) there.set(item.key, item);
  const [changes, after] = [[] as WebhookChange[], new Map(Object.entries(told))];
  for (const [key, was] of Object.entries(told)) {
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
