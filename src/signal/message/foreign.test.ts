import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foreignRecord } from '../../../test/support/foreign-records.ts';
import type { StreamRecord } from '../../ports/stream.ts';
import { decodeSignalRecord } from './decode.ts';

const AT = Date.parse('2026-11-20T10:00:00Z');
const record = (more: Partial<StreamRecord>): StreamRecord => ({
  offset: 0,
  timestamp: AT,
  key: 'w',
  headers: { workspace_id: 'w' },
  value: '{"type":"access_rules","action":"block","ip":"192.0.2.1"}',
  ...more,
});

test('D4.13 property: arbitrary JSON and headers are landed or poison, and never a defect', () => {
  let landed = 0;
  fc.assert(
    fc.property(foreignRecord('w'), (foreign) => {
      const decoded = decodeSignalRecord(foreign);
      assert.equal('poison' in decoded ? decoded.defect : undefined, undefined);
      if (!('poison' in decoded)) landed += 1;
    }),
    { seed: 11, numRuns: 5000 },
  );
  assert.ok(landed > 500, `${landed} landed`);
});

test('D41.1 an IPv4-mapped network wider than a /8 is poison, whoever wrote it', () => {
  const value = '{"type":"access_rules","action":"block","ip":"::ffff:0:0/96"}';
  assert.deepEqual(decodeSignalRecord(record({ value })), {
    poison: 'ip: covers more than an IPv4 /8; send the IPv4 network itself',
  });
});

test('D4.13 an object in the place of a kind is poison', () => {
  const value = '{"schema_version":2,"kind":{"toString":1},"op":"upsert","rule":{"target":{"ip":"192.0.2.1"}}}';
  assert.match(
    JSON.stringify(decodeSignalRecord(record({ headers: { workspace_id: 'w', schema_version: '2' }, value }))),
    /^{"poison":"kind: /,
  );
});

test('D4.13 whatever is thrown while a record is decoded is its poison, and named as a defect', () => {
  const defect = new Error('boom');
  const headers = {
    get workspace_id(): string {
      throw defect;
    },
  };
  assert.deepEqual(decodeSignalRecord(record({ headers })), { poison: 'weir failed to decode it: Error: boom', defect });
});

test('D4.14 an instant of acceptance that is no millisecond of the years 2000 to 2199 is poison', () => {
  const result = (more: Partial<StreamRecord>) => {
    const decoded = decodeSignalRecord(record(more));
    return 'poison' in decoded ? decoded.poison : decoded.receivedAt;
  };
  for (const timestamp of [-1, 0, AT / 1000, AT * 1000, AT * 1e6, 2 ** 63, Number.NaN, Date.UTC(2200, 0, 1), Date.UTC(2000, 0, 1) - 1]) {
    assert.match(String(result({ timestamp })), /^the record's timestamp is not an instant of the years 2000 to 2199/);
    // Where the header says it, the record's own does not matter.
    assert.equal(result({ timestamp, headers: { workspace_id: 'w', received_at: '2026-11-20T10:00:00Z' } }), AT);
  }
  for (const received_at of ['9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', '2200-01-01T00:00:00Z']) {
    assert.match(
      String(result({ headers: { workspace_id: 'w', received_at } })),
      /^header received_at is not an instant of the years 2000 to 2199/,
    );
  }
  for (const timestamp of [Date.UTC(2000, 0, 1), Date.UTC(2200, 0, 1) - 1]) assert.equal(result({ timestamp }), timestamp);
});
