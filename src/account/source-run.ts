/** Requests to a source, and its past refreshes (SPEC D23.22). */
import type { Author } from './caller.ts';

export interface SourceAsk {
  readonly what: 'refresh' | 'accept' | 'discard';
  readonly at: number;
  readonly by: Author;
  readonly replacement?: string;
  /** An earlier refresh request, done afterwards. */
  readonly next?: SourceAsk;
}

/** The remaining request after the one of time `answered` is done. */
export const askedAfter = (asked: SourceAsk | null, answered: number | undefined): SourceAsk | null =>
  asked?.at === answered ? (asked?.next ?? null) : asked;

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

export const STORED_RUNS = 20;
