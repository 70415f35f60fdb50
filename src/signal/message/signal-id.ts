/** The ids of batches and of their signals. A signal's id tells its batch: they differ in the last three digits, which count the entries. */
import { v7, validate } from 'uuid';

const DIGITS = 3;
/** Ends the id of a batch. */
const NO_ENTRY = '0'.repeat(DIGITS);
/** Signals that a batch has at most. */
export const BATCH_SIGNALS = 16 ** DIGITS - 1;

/** The id of a new batch, accepted at this instant (ms): a UUIDv7 that ends in `000`. */
export const newBatchId = (msecs: number): string => v7({ msecs }).slice(0, -DIGITS) + NO_ENTRY;

/** The id of the n-th signal of a batch (from 1 to BATCH_SIGNALS), a UUIDv7 like the batch's. */
export const signalId = (batchId: string, n: number): string => batchId.slice(0, -DIGITS) + n.toString(16).padStart(DIGITS, '0');

/** Tells the id of the batch that a signal belongs to, for one signal after the other; null where the signal's id is no UUID. */
export function batchReader(): (signalId: string | undefined) => string | null {
  let last = { prefix: '-', batch: '' };
  return (signalId) => {
    if (signalId === undefined) return null;
    // Most ids are of the same batch as the one before, which is known to be a UUID up to the digits that count.
    if (signalId.length === last.prefix.length + DIGITS && signalId.startsWith(last.prefix) && COUNT.test(signalId.slice(-DIGITS)))
      return last.batch;
    if (!validate(signalId)) return null;
    const prefix = signalId.slice(0, -DIGITS);
    last = { prefix, batch: prefix.toLowerCase() + NO_ENTRY };
    return last.batch;
  };
}
const COUNT = /^[0-9a-f]{3}$/i;
