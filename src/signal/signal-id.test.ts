import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate, version } from 'uuid';
import { signalId } from './signal-id.ts';

test('D4 signal ids are UUIDv7 of their instant, none twice', () => {
  const msecs = Date.parse('2026-11-20T10:00:00.123Z');
  const ids = Array.from({ length: 5000 }, () => signalId(msecs));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert(validate(id) && version(id) === 7);
  assert.equal(Number.parseInt(ids[0]!.replace('-', '').slice(0, 12), 16), msecs);
});
