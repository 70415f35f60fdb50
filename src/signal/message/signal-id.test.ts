import assert from 'node:assert/strict';
import { test } from 'node:test';
import { v4, validate, version } from 'uuid';
import { BATCH_SIGNALS, batchReader, newBatchId, signalId } from './signal-id.ts';

const batchOf = batchReader();

const INSTANT = Date.parse('2026-11-20T10:00:00.123Z');

test('D4 ids of batches are UUIDv7 of their instant, none twice', () => {
  const ids = Array.from({ length: 5000 }, () => newBatchId(INSTANT));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert(validate(id) && version(id) === 7);
  assert.equal(Number.parseInt(ids[0]!.replace('-', '').slice(0, 12), 16), INSTANT);
});

test('D4, D9.1 ids of signals are UUIDv7 that tell their batch, none twice', () => {
  const batch = newBatchId(INSTANT);
  const ids = Array.from({ length: BATCH_SIGNALS }, (_, n) => signalId(batch, n + 1));
  assert.equal(new Set([batch, ...ids]).size, BATCH_SIGNALS + 1);
  for (const id of ids) assert(validate(id) && version(id) === 7 && batchOf(id) === batch);
});

test('D9.1 the signals of another producer are batches as far as their ids tell', () => {
  const id = v4();
  assert.equal(batchOf(id.toUpperCase()), `${id.slice(0, -3)}000`);
  assert.deepEqual(['', 's', '0195', undefined].map(batchOf), [null, null, null, null]);
});
