import { WeirError } from '../../../errors.ts';
import { oneByOne } from '../../../serial.ts';

/** How long an explanation may wait, and may take, ms: then nobody waits for it any more. */
export const EXPLAIN_LONGEST = 10_000;

/**
 * Makes explanations, of a workspace one at a time: each holds all of its feeds meanwhile. Rejects with LIMITED what has waited for too long
 * (SPEC D10.23); `monotonic` in ms.
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
