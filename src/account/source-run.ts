/** What is asked of a source, and its refreshes as they are told afterwards (SPEC D23.22). */
import type { Author } from './caller.ts';

/** What somebody wants of a source, until it is done. */
export interface SourceAsk {
  readonly what: 'refresh' | 'accept' | 'discard';
  readonly at: number;
  readonly by: Author;
  /** The replacement that is accepted or discarded. */
  readonly replacement?: string;
  /** A refresh that was asked for before, and is done behind it. */
  readonly next?: SourceAsk;
}

/** What is asked of a source once what was asked at an instant is done. */
export const askedAfter = (asked: SourceAsk | null, answered: number | undefined): SourceAsk | null =>
  asked?.at === answered ? (asked?.next ?? null) : asked;

/** One refresh, as it is told afterwards. */
export interface SourceRun {
  readonly at: number;
  readonly outcome: 'applied' | 'unchanged' | 'held' | 'failed' | 'stopped' | 'expired' | 'discarded';
  readonly ms: number;
  readonly bytes: number;
  readonly entries: number;
  readonly added: number;
  readonly removed: number;
  readonly refused: number;
  readonly faults: number;
  readonly replacement: string | null;
  readonly text: string;
}

/** Runs of a source that are kept. */
export const RUNS_KEPT = 20;
