/** The list setting for targets that are blocked again (SPEC D56), as text: `x4 within 30d up to 30d`. */
import { DAY } from '../clock.ts';

export interface Repeat {
  /** Each further block lasts this many times as long as the one before. */
  readonly factor: number;
  /** Time after the end of a block in which another one counts as further, ms. */
  readonly within: number;
  /** The longest duration that multiplying leads to, ms. */
  readonly upTo: number;
}

const FORM = /^x(\d{1,2}) within (\d{1,3})d up to (\d{1,3})d$/;
const [MOST_FACTOR, MOST_WITHIN, MOST_UP_TO] = [16, 90, 365];

export const REPEAT_RULE = `must be a text such as "x4 within 30d up to 30d": a factor from 2 to ${MOST_FACTOR}, up to ${MOST_WITHIN} days after the end of a block, blocks of up to ${MOST_UP_TO} days`;

/** undefined: not such a text. */
export function repeatOf(text: string): Repeat | undefined {
  const [factor, within, upTo] = (FORM.exec(text)?.slice(1) ?? []).map(Number);
  if (factor === undefined || within === undefined || upTo === undefined) return undefined;
  const isKnown = factor >= 2 && factor <= MOST_FACTOR && within >= 1 && within <= MOST_WITHIN && upTo >= 1 && upTo <= MOST_UP_TO;
  return isKnown ? { factor, within: within * DAY, upTo: upTo * DAY } : undefined;
}

/** State of a blocked target in a list, after its last block. Times in ms. */
export interface RepeatState {
  /** Consecutive blocks, each within the time after the end of the one before. */
  readonly blocks: number;
  readonly endsAt: number;
  /** Duration as sent, of the last block. */
  readonly sent: number;
}

/** The state of one target of a list, in an export. */
export interface SavedRepeat extends RepeatState {
  readonly listId: string;
  /** Canonical text. */
  readonly target: string;
  /** The state before the batch of the last block; 0 blocks: none. */
  readonly before: Pick<RepeatState, 'blocks' | 'endsAt'>;
}

/** The end of a block that was set never to expire, ms. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The state after a block accepted at `at` for `sent` ms. A block before the end of the last one is a renewal, and does not count. */
export function blockedAgain(before: RepeatState | undefined, { factor, within, upTo }: Repeat, at: number, sent: number): RepeatState {
  const blocks = before === undefined || at > before.endsAt + within ? 1 : at < before.endsAt ? before.blocks : before.blocks + 1;
  return { blocks, endsAt: at + Math.max(sent, Math.min(upTo, sent * factor ** (blocks - 1))), sent };
}
