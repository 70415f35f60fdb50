/** What needs attention and was put off by somebody, for a while and for a reason (SPEC D18.72). */
import { isoTime } from '../clock.ts';
import type { Author } from './caller.ts';

/** What is put off: one thing in the state that it has; in another state it is told again. */
export interface SnoozeOf {
  /** Of `Alert`. */
  readonly key: string;
  readonly state: string;
  /** What it said. */
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

/** What a workspace may have put off at once. */
export const MOST_SNOOZES = 200;
/** How long something may be put off, seconds. */
export const LONGEST_SNOOZE = 30 * 86_400;
export const SHORTEST_SNOOZE = 60;
/** Characters of a reason, and of what is kept of a text. */
export const LONGEST_REASON = 200;
export const LONGEST_TEXT = 500;

/** A snooze as JSON has it; `keys`: the names of keys. */
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
