import { type ErrorCode, WeirError } from '../errors.ts';
import { type BatchFault, refusalText } from './faults.ts';

export interface Refusal {
  /** `USAGE`: the batch is faulty. `STREAM_UNAVAILABLE`, `STORE_UNAVAILABLE`: service failures; safe to retry. */
  readonly code: Extract<
    ErrorCode,
    'USAGE' | 'FORBIDDEN' | 'NOT_FOUND' | 'REFUSED' | 'LIMITED' | 'STREAM_UNAVAILABLE' | 'STORE_UNAVAILABLE'
  >;
  readonly message: string;
  /** 1 to 100 faults of a `USAGE`. */
  readonly faults?: readonly BatchFault[];
  /** For `LIMITED`: seconds until the next attempt. */
  readonly retryAfter?: number;
}

export const refusedFor = (faults: readonly BatchFault[]): Refusal => ({
  code: 'USAGE',
  message: refusalText(faults as readonly [BatchFault]),
  faults,
});

export function throwRefusal({ code, message, retryAfter }: Refusal): never {
  throw new WeirError(code, message, retryAfter === undefined ? {} : { cause: { retryAfter } });
}
