import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateLimiter } from './rate-limit.ts';

test('8 requests per key and minute, with the seconds to wait', () => {
  const limiter = rateLimiter(3);
  const now = 1_800_000_000_000;
  assert.deepEqual(
    [1, 2, 3].map(() => limiter.take('a', now)),
    [0, 0, 0],
  );
  assert.equal(limiter.take('a', now), 20);
  assert.equal(limiter.take('b', now), 0);
  assert.equal(limiter.take('a', now + 19_500), 1);
  assert.equal(limiter.take('a', now + 20_000), 0);
  assert.equal(limiter.take('a', now + 20_000), 20);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => limiter.take('a', now + 500_000)),
    [0, 0, 0, 20],
  );
});

test('8 a clock set back neither blocks a key for long nor gives it more', () => {
  const limiter = rateLimiter(60);
  const now = 1_800_000_000_000;
  for (let i = 0; i < 60; i += 1) assert.equal(limiter.take('a', now), 0);
  assert.equal(limiter.take('a', now - 3_600_000), 1);
  assert.equal(limiter.take('a', now - 3_599_000), 0);
});

test('D1 0 switches the limit off', () => {
  const limiter = rateLimiter(0);
  for (let i = 0; i < 100_000; i += 1) assert.equal(limiter.take('a', 0), 0);
});

test('D3.27 entries are taken many at a time, all of them or none', () => {
  const limiter = rateLimiter(1000);
  const now = 1_800_000_000_000;
  assert.equal(limiter.take('a', now, 700), 0);
  assert.equal(limiter.take('a', now, 400), 6);
  assert.equal(limiter.take('a', now, 300), 0);
  assert.equal(limiter.take('a', now + 60_000, 1000), 0);
});
