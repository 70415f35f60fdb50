import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { countDropped, countRead } from './pace.ts';

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

for (const [what, count, ms, most] of [
  ['bodies that are read', countRead, 4, 32],
  ['bodies that are dropped', countDropped, 10, 16],
] as const) {
  test(`D3.28 all ${what} together give a bounded number of bytes in a turn, and each of them ends`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let pieces = 0;
    const bodies = Array.from({ length: 40 }, body);
    const ends = bodies.map((each) => {
      each.on('data', (piece: Buffer) => {
        pieces += 1;
        count(each, piece.length);
      });
      return once(each, 'end');
    });
    const ofTurns = [];
    for (let before = 0; before < 40 * PIECES; before = pieces) {
      await turn();
      t.mock.timers.tick(ms);
      await turn();
      ofTurns.push(pieces - before);
    }
    await Promise.all(ends);
    // The turn that the last pieces have planned: the test's clock ends with it.
    t.mock.timers.tick(ms);
    // Each body gives one piece before it can be stopped; from then on what a turn has, and one piece of each that is resumed.
    assert.ok(Math.max(...ofTurns.slice(2)) <= most, `pieces of 64 KiB in each turn: ${ofTurns}`);
    assert.ok(ofTurns[0] <= 40 + 2 * most, `pieces of 64 KiB in each turn: ${ofTurns}`);
  });
}
