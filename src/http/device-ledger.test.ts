import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { DEFAULT_VARIANT, variantOf } from '../feed/variant.ts';
import { type DeviceLedger, deviceLedger, type Poll } from './device-ledger.ts';
import type { AnsweredContent } from './feeds/headers.ts';

const T0 = 1_800_000_000_000;
const KEY = { keyId: 'key', workspaceId: 'workspace' };
const poll = (more: Partial<Poll> = {}): Poll => ({
  userAgent: 'firewall',
  address: '192.0.2.1',
  status: 200,
  validates: false,
  content: undefined,
  ...more,
});
function taken(ledger: DeviceLedger) {
  const { devices, refused } = ledger.take();
  return { devices: [...devices], refused };
}
const content = (etag: string, variant = DEFAULT_VARIANT): AnsweredContent => ({ feedId: null, variant, etag, lastModified: 100 });

test('D16.7 a device is a key, a User-Agent and an address; its answers are counted, and what it has of each document', () => {
  let now = T0;
  const ledger = deviceLedger(() => now);
  const [first, v4, second] = [content('"1"'), content('"v4"', variantOf({ family: 'v4' }, DEFAULT_VARIANT)), content('"2"')];
  for (const [status, of] of [
    [200, first],
    [200, v4],
    [304, first],
    [200, second],
    [304, second],
    [403, undefined],
    [500, undefined],
  ] as const) {
    ledger.note(KEY, poll({ status, content: of, validates: status === 304 }));
    now += 1000;
  }
  ledger.note(KEY, poll({ address: '192.0.2.2' }));
  ledger.note({ ...KEY, keyId: 'other' }, poll({ userAgent: undefined }));
  const { devices, refused } = taken(ledger);
  assert.deepEqual(refused, []);
  assert.deepEqual(
    devices.map(({ keyId, userAgent, address }) => [keyId, userAgent, address]),
    [
      ['key', 'firewall', '192.0.2.1'],
      ['key', 'firewall', '192.0.2.2'],
      ['other', '-', '192.0.2.1'],
    ],
  );
  const { documents, ...counted } = devices[0]!;
  assert.deepEqual(counted, {
    ...KEY,
    userAgent: 'firewall',
    address: '192.0.2.1',
    firstPull: T0,
    lastPull: T0 + 6000,
    pulls: 7,
    ok: 3,
    notModified: 2,
    refused: 1,
    failed: 1,
    lastStatus: 500,
    validates: true,
  });
  assert.deepEqual(
    documents.map(({ family, etag, at }) => [family, etag, at - T0]),
    [
      ['both', '"2"', 4000],
      ['v4', '"v4"', 1000],
    ],
  );
  assert.deepEqual(taken(ledger), { devices: [], refused: [] });
});

test('D16.8 a key that is not valid is noted by its SHA-256', () => {
  const ledger = deviceLedger(() => T0);
  const hash = createHash('sha256').update('a key').digest();
  ledger.noteRefused(hash.toString('latin1'), poll({ status: 401 }));
  ledger.noteRefused(hash.toString('latin1'), poll({ status: 401 }));
  const [device, ...others] = taken(ledger).refused;
  assert.deepEqual(others, []);
  assert.ok(hash.equals(Buffer.from(device!.hash)));
  assert.deepEqual([device!.seen.pulls, device!.seen.refused, device!.seen.lastStatus], [2, 2, 401]);
});

test('D16.9 names that are made up fill neither memory nor the places of other workspaces', () => {
  const ledger = deviceLedger(() => T0);
  for (let n = 0; n < 6_000; n += 1) ledger.note(KEY, poll({ userAgent: `agent ${n}` }));
  ledger.note({ keyId: 'b', workspaceId: 'b' }, poll({ userAgent: 'x'.repeat(16_000) }));
  for (let n = 0; n < 2_000; n += 1) ledger.noteRefused(`digest ${n}`, poll());
  const { devices: read, refused } = ledger.take();
  // They are written in pieces: what polls meanwhile counts for the next taking.
  const devices = [...read].map((device) => {
    ledger.note(KEY, poll({ userAgent: device.userAgent }));
    return device;
  });
  assert.equal(devices.length, 5_001);
  assert.ok(devices.every(({ pulls }) => pulls === 1));
  assert.equal(devices.at(-1)!.userAgent, 'x'.repeat(200));
  assert.equal(refused.length, 1_000);
});

test('D16.12 newcomers can be taken before their time, 20 of a workspace; what is taken adds up, and who was there the minute before is none', () => {
  let now = T0;
  const ledger = deviceLedger(() => now);
  let asked = 0;
  ledger.onNew(() => {
    asked += 1;
  });
  ledger.note(KEY, poll({ userAgent: 'a' }));
  ledger.note(KEY, poll({ userAgent: 'b' }));
  assert.deepEqual(
    [asked, ledger.takeNew().map(({ userAgent, pulls }) => [userAgent, pulls])],
    [
      1,
      [
        ['a', 1],
        ['b', 1],
      ],
    ],
  );
  now += 5_000;
  ledger.note(KEY, poll({ userAgent: 'a' }));
  assert.deepEqual(ledger.takeNew(), []);
  assert.deepEqual(
    taken(ledger).devices.map(({ userAgent, pulls, firstPull }) => [userAgent, pulls, firstPull - T0]),
    [['a', 1, 5_000]],
  );
  for (let n = 0; n < 100; n += 1) ledger.note(KEY, poll({ userAgent: `agent ${n}` }));
  ledger.note({ keyId: 'b', workspaceId: 'b' }, poll({ userAgent: 'other' }));
  ledger.note(KEY, poll({ userAgent: 'a' }));
  const early = ledger.takeNew();
  assert.equal(early.length, 21);
  assert.ok(early.every(({ userAgent }) => userAgent !== 'a'));
  assert.equal(taken(ledger).devices.length, 101 - 20);
});

test('D16.6 a key that stands in a User-Agent is not kept', () => {
  const ledger = deviceLedger(() => T0);
  ledger.note(KEY, poll({ userAgent: `curl weir_${'k'.repeat(43)}` }));
  assert.equal(taken(ledger).devices[0]!.userAgent, 'curl [key]');
});
