import { WeirError } from '../../../errors.ts';
import { oneByOne } from '../../../serial.ts';

/** Of the wait, and of the work, ms. */
export const EXPLAIN_LONGEST = 10_000;

/**
 * Serializes explanations per workspace: each has all its feeds in memory. Rejects with LIMITED after the maximum wait (SPEC D10.23);
 * `monotonic` in ms.
 */
export function explainOneAtATime(monotonic: () => number) {
  const inTurn = oneByOne();
  return <T>(workspaceId: string, explain: () => Promise<T>): Promise<T> => {
    const until = monotonic() + EXPLAIN_LONGEST;
    return inTurn(async () => {
      if (monotonic() > until) throw new WeirError('LIMITED', 'too many look-ups of the workspace are waiting');
      return explain();
    }, workspaceId);
  };
}
