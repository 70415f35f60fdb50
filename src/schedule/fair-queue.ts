/** Dear work: one of a workspace at a time, so many in all, and a bound on who waits. */
import { WeirError } from '../errors.ts';
import { inTurns } from '../serial.ts';

interface Line {
  /** At once, in all. */
  readonly running: number;
  /** Asked for, those that run included. */
  readonly asked: { readonly inAll: number; readonly ofWorkspace: number };
  /** What is refused beyond that, such as `the worth of too many lists is being counted`. */
  readonly refusal: string;
}

/** Does work of a workspace in the order in which it was asked for; workspaces take turns. Rejects with LIMITED where too much is asked for. */
export function fairQueue({ running: most, asked: bound, refusal }: Line): <T>(workspaceId: string, work: () => Promise<T>) => Promise<T> {
  const inTurn = inTurns(most);
  const asked: string[] = [];
  return async (workspaceId, work) => {
    const own = asked.filter((each) => each === workspaceId).length;
    if (own >= bound.ofWorkspace || asked.length >= bound.inAll)
      throw new WeirError('LIMITED', `${refusal} at this time`, { cause: { retryAfter: 10 } });
    asked.push(workspaceId);
    try {
      return await inTurn(work, workspaceId);
    } finally {
      asked.splice(asked.indexOf(workspaceId), 1);
    }
  };
}
