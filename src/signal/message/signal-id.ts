/** Ids of batches and signals. A signal's id is its batch's id except for the last three digits, its number. */
import { v7, validate } from 'uuid';

const DIGITS = 3;
const NO_ENTRY = '0'.repeat(DIGITS);
export const BATCH_SIGNALS = 16 ** DIGITS - 1;

/** A UUIDv7 ending in `000`, at this instant (ms). */
export const newBatchId = (msecs: number): string => v7({ msecs }).slice(0, -DIGITS) + NO_ENTRY;

/** The id of signal n (1 to BATCH_SIGNALS), also a UUIDv7. */
export const signalId = (batchId: string, n: number): string => batchId.slice(0, -DIGITS) + n.toString(16).padStart(DIGITS, '0');

/** Returns a signal's batch id; null if it is not a UUID. */
export function batchReader(): (signalId: string | undefined) => string | null {
  let last = { prefix: '-', batch: '' };
  return (signalId) => {
    if (signalId === undefined) return null;
    // Fast path: same batch as the previous, validated signal.
    if (signalId.length === last.prefix.length + DIGITS && signalId.startsWith(last.prefix) && COUNT.test(signalId.slice(-DIGITS)))
      return last.batch;
    if (!validate(signalId)) return null;
    const prefix = signalId.slice(0, -DIGITS);
    last = { prefix, batch: prefix.toLowerCase() + NO_ENTRY };
    return last.batch;
  };
}
const COUNT = /^[0-9a-f]{3}$/i;
