/** Limits the bytes of all bodies per turn: other requests are not delayed. */
import type { Readable } from 'node:stream';
import { coalesced } from '../../schedule/debounce.ts';

/** Least of a resumed body, bytes. */
const PIECE = 64 * 1024;

type CountPiece = (body: Readable, bytes: number) => void;

function pace(bytesOfTurn: number, plan: (turn: () => void) => unknown): CountPiece {
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

/** 250 MiB a second. A socket would deliver up to 2 MiB immediately, from hundreds of clients. */
export const countRead: CountPiece = pace(1024 * 1024, (turn) => setTimeout(turn, 4));

/** Bodies of refused requests: 50 MiB a second. At full speed they would use up the thread, and the scheduler would then delay it. */
export const countDropped: CountPiece = pace(512 * 1024, (turn) => setTimeout(turn, 10));
