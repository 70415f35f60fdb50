/** Snoozed alerts, with time and reason (SPEC D18.72). */
import { isoTime } from '../clock.ts';
import type { Author } from './caller.ts';

/** An alert in its current state; another state alerts again. */
export interface SnoozeOf {
  readonly key: string;
  readonly state: string;
  readonly text: string;
  readonly reason: string;
  /** ms since 1970. */
  readonly until: number;
}

export interface Snooze extends SnoozeOf {
  readonly id: string;
  readonly by: Author;
  /** ms since 1970. */
  readonly since: number;
}

export const MOST_SNOOZES = 200;
/** Seconds. */
export const LONGEST_SNOOZE = 30 * 86_400;
export const SHORTEST_SNOOZE = 60;
/** Of a reason, and of the stored text, characters. */
export const LONGEST_REASON = 200;
export const LONGEST_TEXT = 500;

export const snoozeJson = ({ id, reason, since, until, by }: Snooze, keys: ReadonlyMap<string, string>) => ({
  id,
  reason,
  since: isoTime(since),
  until: isoTime(until),
  actor: by.actor,
  person: by.personId ?? null,
  key_id: by.keyId,
  key_name: keys.get(by.keyId ?? '') ?? null,
});
