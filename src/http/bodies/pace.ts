/** How much of all request bodies together is read in one turn: other requests wait for no more than that. */
import type { Readable } from 'node:stream';
import { coalesced } from '../../schedule/coalesced.ts';

/** Bytes that a body gives at least, once it is read on: a piece that waits, and the next one. */
const PIECE = 64 * 1024;

/** Counts a piece that a body has given. Where a turn has had its bytes, the body is paused; a later turn resumes it. */
type CountPiece = (body: Readable, bytes: number) => void;

/** Lets bodies give so many bytes a turn together, of turns that `plan` plans. */
function pace(bytesOfTurn: number, plan: (turn: () => void) => unknown): CountPiece {
  /** Bodies that wait for a turn, in the order in which they are read on. */
  const waiting = new Set<Readable>();
  let left = bytesOfTurn;
  const planTurn = coalesced(() => {
    left = bytesOfTurn;
    for (const body of [...waiting].slice(0, bytesOfTurn / PIECE)) {
      waiting.delete(body);
      body.resume();
    }
    return waiting.size > 0;
  }, plan);
  return (body, bytes) => {
    left -= bytes;
    if (left <= 0) {
      body.pause();
      waiting.add(body);
    }
    planTurn();
  };
}

/** Bodies that are wanted: 250 MiB a second. A socket would give up to 2 MiB in one go, and there may be hundreds of them. */
export const countRead: CountPiece = pace(1024 * 1024, (turn) => setTimeout(turn, 4));

/**
 * What comes after a refusal, to be dropped: 50 MiB a second. Read as fast as it comes it would take the thread's whole time, and the
 * machine lets a thread wait for the others that has just had so much of it.
 */
export const countDropped: CountPiece = pace(512 * 1024, (turn) => setTimeout(turn, 10));
