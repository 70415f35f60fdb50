/** How much of all request bodies together is read in one turn of the event loop: other requests wait for no more than that. */
import type { Readable } from 'node:stream';
import { eachTurn } from './each-turn.ts';

/** Bytes of a turn. A socket would give up to 2 MiB in one go, and there may be hundreds of them. */
const TURN = 1024 * 1024;
/** Bytes that a body gives at least, once it is read on: a piece that waits, and the next one. */
const PIECE = 64 * 1024;

/** Bodies that wait for a turn, in the order in which they are read on. */
const waiting = new Set<Readable>();
let left = TURN;

/** Counts a piece that a body has given. Where a turn has had its bytes, the body is paused; a later turn resumes it. */
export function countPiece(body: Readable, bytes: number): void {
  left -= bytes;
  if (left <= 0) {
    body.pause();
    waiting.add(body);
  }
  planTurn();
}

const planTurn = eachTurn(() => {
  left = TURN;
  for (const body of [...waiting].slice(0, TURN / PIECE)) {
    waiting.delete(body);
    body.resume();
  }
  return waiting.size > 0;
});
