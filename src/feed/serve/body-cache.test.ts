import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { BodyCache } from './body-cache.ts';

const bytes = (length: number) => new Uint8Array(length).fill(length);

describe('D1 FEED_CACHE_MB', () => {
  test('a body that is not used goes before one that is', () => {
    const bodies = new BodyCache(100);
    const [a, b, c] = [40, 41, 42].map((length) => bodies.add(bytes(length)));
    assert.deepEqual(
      [a, b, c].map((body) => body.identity?.length),
      [undefined, 41, 42],
    );
    bodies.identity(b);
    bodies.add(bytes(20));
    assert.deepEqual(
      [b, c].map((body) => body.identity?.length),
      [41, undefined],
    );
  });

  test('where all are used the first goes, and the others need to be used again', () => {
    const bodies = new BodyCache(100);
    const [a, b, c] = [30, 31, 32].map((length) => bodies.add(bytes(length)));
    for (const body of [a, b, c]) bodies.identity(body);
    const d = bodies.add(bytes(20));
    for (const body of [c, d]) bodies.identity(body);
    const e = bodies.add(bytes(25));
    assert.deepEqual(
      [a, b, c, d, e].map((body) => body.identity?.length),
      [undefined, undefined, 32, 20, 25],
    );
  });

  test('one body is always held, however large', () => {
    const bodies = new BodyCache(10);
    const large = bodies.add(bytes(1_000));
    assert.equal(bodies.identity(large)?.length, 1_000);
    bodies.add(bytes(1));
    assert.equal(bodies.identity(large), undefined);
    assert.equal(bodies.gzip(large), undefined);
  });

  test('compressed once for all who wait, and counted', async () => {
    const bodies = new BodyCache(3_000);
    const body = bodies.add(crypto.getRandomValues(new Uint8Array(1_000)));
    const [first, second] = [bodies.gzip(body), bodies.gzip(body)];
    assert.equal(first, second);
    const gzip = await first!;
    assert.deepEqual(new Uint8Array(gunzipSync(gzip)), body.identity);
    assert.equal(bodies.gzip(body), gzip);
    const other = bodies.add(bytes(900));
    bodies.identity(body);
    bodies.add(bytes(200));
    assert.equal(other.identity, undefined);
    assert.equal(bodies.identity(body)?.length, 1_000);
  });

  test('D5.23 what a body has in common with its predecessor is copied, also when that was dropped meanwhile', async () => {
    const bodies = new BodyCache(1 << 20);
    const text = crypto.getRandomValues(new Uint8Array(3_000));
    const parts = [
      { to: 1_000, name: 'a' },
      { to: 3_000, name: 'b' },
    ];
    const first = bodies.add(text, parts);
    await bodies.gzip(first);
    const next = bodies.add(text.slice(1_000), [{ to: 2_000, name: 'b' }], first);
    bodies.drop(first);
    const gzip = await bodies.gzip(next)!;
    assert.deepEqual(new Uint8Array(gunzipSync(gzip)), text.slice(1_000));
    assert.deepEqual(gzip, await new BodyCache(1).gzip(new BodyCache(1).add(text.slice(1_000), [{ to: 2_000, name: 'b' }])));
    assert.equal(bodies.bytes, 2_000 + gzip.length);
  });

  test('a body that is dropped while it is compressed is still sent, and not kept', async () => {
    const bodies = new BodyCache(1 << 20);
    const body = bodies.add(bytes(500_000));
    const compressing = bodies.gzip(body)!;
    bodies.drop(body);
    assert.equal(gunzipSync(await compressing).length, 500_000);
    assert.deepEqual([body.identity, body.gzip], [undefined, undefined]);
  });

  test('4.3.9 the checksum is made once for all who wait, and known for longer than the body', async () => {
    const bodies = new BodyCache(10 << 20);
    // Several turns of work.
    const identity = crypto.getRandomValues(new Uint8Array(1 << 16));
    const long = new Uint8Array(3 << 20).map((_, i) => identity[i % identity.length] ^ (i >> 16));
    const wanted = createHash('md5').update(long).digest('hex');
    const body = bodies.add(long);
    const [first, second] = [bodies.digest(body, 'md5'), bodies.digest(body, 'md5')];
    assert.equal(first, second);
    bodies.drop(body);
    assert.deepEqual([await first, await bodies.digest(body, 'md5')], [wanted, wanted]);
    const unasked = bodies.add(bytes(10));
    bodies.drop(unasked);
    assert.equal(bodies.digest(unasked, 'md5'), undefined);
  });
});
