import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { afterPulls, type DeviceState, MOST_DOCUMENTS, patienceOf, type SeenDevice, usualInterval } from './device.ts';

const T0 = 1_800_000_000_000;
const MINUTE = 60_000;

const seen = (firstPull: number, lastPull: number, pulls: number, more: Partial<SeenDevice> = {}): SeenDevice => ({
  workspaceId: 'w',
  keyId: 'k',
  userAgent: 'a',
  address: '192.0.2.1',
  firstPull,
  lastPull,
  pulls,
  ok: pulls,
  notModified: 0,
  refused: 0,
  failed: 0,
  lastStatus: 200,
  validates: false,
  documents: [],
  ...more,
});
const merged = (...all: readonly SeenDevice[]): DeviceState =>
  all.reduce<DeviceState | undefined>((state, each) => afterPulls(state, each), undefined)!;

test('D16.10 a device has a usual interval after four, and stops after ten of them, never before ten minutes', () => {
  const everyFiveMinutes = (pulls: number) =>
    merged(...Array.from({ length: pulls }, (_, n) => seen(T0 + n * 5 * MINUTE, T0 + n * 5 * MINUTE, 1)));
  assert.equal(usualInterval(everyFiveMinutes(4)), null);
  assert.equal(patienceOf(everyFiveMinutes(4)), null);
  assert.equal(usualInterval(everyFiveMinutes(5)), 5 * MINUTE);
  assert.equal(patienceOf(everyFiveMinutes(5)), 50 * MINUTE);
  assert.equal(patienceOf(merged(seen(T0, T0 + 10_000, 11))), 10 * MINUTE);
});

test('D42.5 fetches by hand never stop; a program for people that pulled 100 times and for an hour is a device', () => {
  const stops = (userAgent: string, pulls: number, minutes: number) =>
    patienceOf(merged(seen(T0, T0 + minutes * MINUTE, pulls, { userAgent }))) !== null;
  for (const agent of ['curl/8.5.0', 'Wget/1.21.4', 'HTTPie/3.2.2', 'Mozilla/5.0 (X11)', 'python-requests/2.31', 'Python-urllib/3.12']) {
    assert.deepEqual(
      [stops(agent, 30, 20), stops(agent, 99, 600), stops(agent, 500, 59), stops(agent, 100, 60)],
      [false, false, false, true],
      agent,
    );
  }
  for (const agent of ['PAN-OS', 'FortiGate (FortiOS 7.0)', 'curlew/1', '', 'my-curl'])
    assert.ok(stops(agent, 6, 5) || agent === 'curlew/1', agent);
});

test('D16.10 the interval follows a device that is set to another one, and a long pause does not stretch it', () => {
  let state = merged(seen(T0, T0 + 100 * MINUTE, 101));
  assert.equal(usualInterval(state), MINUTE);
  state = afterPulls(state, seen(T0 + 3000 * MINUTE, T0 + 3000 * MINUTE, 1));
  assert.equal(usualInterval(state), MINUTE);
  for (let n = 1; n <= 300; n += 1) state = afterPulls(state, seen(T0 + (3000 + 5 * n) * MINUTE, T0 + (3000 + 5 * n) * MINUTE, 1));
  assert.ok(Math.abs(usualInterval(state)! - 5 * MINUTE) < MINUTE / 6);
});

test('D16.9 what processes tell adds up in whichever order they tell', () => {
  const document = fc.record({ feedId: fc.constantFrom('a', null), lastModified: fc.nat(9), at: fc.nat({ max: 1_000_000 }) });
  const told = fc.record({
    from: fc.nat(100),
    for: fc.nat(100),
    pulls: fc.integer({ min: 1, max: 5 }),
    status: fc.constantFrom(200, 304),
    document,
  });
  fc.assert(
    fc.property(fc.uniqueArray(told, { selector: ({ document }) => document.at, maxLength: 6, minLength: 1 }), (all) => {
      const pulls = all.map(({ from, for: length, pulls, status, document }, n) =>
        seen(T0 + from, T0 + from + length * 10 + n, pulls, {
          lastStatus: status,
          documents: [{ ...document, format: 'plain', family: 'both', action: 'block', etag: `${document.at}` }],
        }),
      );
      const sums = ({ firstPull, lastPull, pulls, ok, documents }: DeviceState) => ({ firstPull, lastPull, pulls, ok, documents });
      assert.deepEqual(sums(merged(...pulls)), sums(merged(...pulls.toReversed())));
    }),
    { seed: 16, numRuns: 200 },
  );
});

test('D16.7 the newest documents of a device are known, each once', () => {
  const documents = Array.from({ length: 40 }, (_, n) => ({
    feedId: `list-${n % 20}`,
    format: 'plain',
    family: 'both',
    action: 'block',
    etag: `"${n}"`,
    lastModified: n,
    at: T0 + n,
  }));
  const state = merged(...documents.map((document) => seen(document.at, document.at, 1, { documents: [document] })));
  assert.deepEqual(
    state.documents.map(({ etag }) => etag),
    Array.from({ length: MOST_DOCUMENTS }, (_, n) => `"${39 - n}"`),
  );
});
