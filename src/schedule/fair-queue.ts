/** Expensive work: one per workspace at a time, with limits. */
import { WeirError } from '../errors.ts';
import { inTurns } from '../serial.ts';

export interface Line {
  /** Concurrent, in all. */
  readonly running: number;
  /** Limits including running work. */
  readonly asked: { readonly inAll: number; readonly ofWorkspace: number };
  /** For the error, such as `the overlap of too many lists is being computed`. */
  readonly refusal: string;
}

/** In order per workspace; workspaces take turns. Rejects with LIMITED. */
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
