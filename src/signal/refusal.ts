import { type ErrorCode, WeirError } from '../errors.ts';
import { type BatchFault, refusalText } from './faults.ts';

/** Why nothing of a batch was taken. */
export interface Refusal {
  /** `USAGE`: the batch itself is at fault. `STREAM_UNAVAILABLE`, `STORE_UNAVAILABLE`: ours; it may be sent again without harm. */
  readonly code: Extract<
    ErrorCode,
    'USAGE' | 'FORBIDDEN' | 'NOT_FOUND' | 'REFUSED' | 'LIMITED' | 'STREAM_UNAVAILABLE' | 'STORE_UNAVAILABLE'
  >;
  readonly message: string;
  /** What is wrong with the batch: 1 to 100 of a `USAGE`. */
  readonly faults?: readonly BatchFault[];
  /** Seconds after which it may be sent again, where it is `LIMITED`. */
  readonly retryAfter?: number;
}

/** The refusal of a batch for what is wrong with it. */
export const refusedFor = (faults: readonly BatchFault[]): Refusal => ({
  code: 'USAGE',
  message: refusalText(faults as readonly [BatchFault]),
  faults,
});

/** Rejects with the error of a refusal, for callers who are not told by a value. */
export function throwRefusal({ code, message, retryAfter }: Refusal): never {
  throw new WeirError(code, message, retryAfter === undefined ? {} : { cause: { retryAfter } });
}
