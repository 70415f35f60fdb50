import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { countPiece } from './pace.ts';

const PIECE = Buffer.alloc(64 * 1024);
const PIECES = 20;

/** A body that has all of its pieces at hand. */
function body(): Readable {
  let left = PIECES;
  return new Readable({
    highWaterMark: PIECE.length,
    read() {
      left -= 1;
      this.push(left < 0 ? null : PIECE);
    },
  });
}

test('D3.28 all bodies together give a bounded number of bytes in a turn, and each of them ends', async () => {
  let pieces = 0;
  const bodies = Array.from({ length: 40 }, body);
  const ends = bodies.map((each) => {
    each.on('data', (piece: Buffer) => {
      pieces += 1;
      countPiece(each, piece.length);
    });
    return once(each, 'end');
  });
  const ofTurns = [];
  for (let before = 0; before < 40 * PIECES; before = pieces) {
    await turn();
    ofTurns.push(pieces - before);
  }
  await Promise.all(ends);
  // Each body gives one piece before it can be stopped; from then on 1 MiB, and one piece of each that is resumed.
  assert.ok(Math.max(...ofTurns) <= 40 + 32, `pieces of 64 KiB in each turn: ${ofTurns}`);
  assert.ok(Math.max(...ofTurns.slice(2)) <= 32, `pieces of 64 KiB in each turn: ${ofTurns}`);
});
