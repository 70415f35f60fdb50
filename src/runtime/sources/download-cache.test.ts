import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { SourceAnswer, SourceRequest } from '../../fetch/content-file.ts';
import { downloadCache } from './download-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-cache-'));
after(() => rmSync(folder, { recursive: true }));
const DROP = 'https://www.spamhaus.org/drop/drop_v4.json';
const HOUR = 3_600_000;
const request = (more: Partial<SourceRequest> = {}): SourceRequest => ({
  ...{ url: DROP, credentials: {}, known: undefined, signal: new AbortController().signal, ...more },
});

/** Counts downloads, each with a file of its own; `state.etag` is the server's. */
function world() {
  const state = { etag: 'a', now: 0, asked: 0 };
  const fetch = async ({ known }: SourceRequest): Promise<SourceAnswer> => {
    state.asked += 1;
    if (known?.etag === state.etag) return { kind: 'unchanged' };
    const file = join(folder, `${crypto.randomUUID()}`);
    writeFileSync(file, state.etag);
    const content = { digest: state.etag, bytes: 1, validators: { etag: state.etag }, endsWithLineFeed: true };
    return { kind: 'fetched', file, ...content, [Symbol.asyncDispose]: async () => rmSync(file) };
  };
  return {
    state,
    cache: downloadCache(
      fetch,
      () => HOUR,
      () => state.now,
    ),
  };
}
type Fetched = Extract<SourceAnswer, { kind: 'fetched' }>;

test('D43.8 a download of an address of the catalogue serves everybody within the interval of its host; its file is removed behind the last reader', async () => {
  const { state, cache } = world();
  assert.ok(!cache.has(request()));
  const first = (await cache.fetch(request())) as Fetched;
  state.now = HOUR - 1;
  assert.ok(cache.has(request()));
  const again = (await cache.fetch(request())) as Fetched;
  assert.deepEqual([state.asked, again.file], [1, first.file]);
  await again[Symbol.asyncDispose]();
  state.now = HOUR;
  state.etag = 'b';
  const newer = (await cache.fetch(request())) as Fetched;
  assert.deepEqual([state.asked, newer.digest, existsSync(first.file)], [2, 'b', true]);
  await first[Symbol.asyncDispose]();
  assert.deepEqual([existsSync(first.file), existsSync(newer.file)], [false, true]);
  // An answer that nothing has changed is as good as another download.
  state.now = 3 * HOUR;
  assert.deepEqual(await cache.fetch(request({ known: { etag: 'b' } })), { kind: 'unchanged' });
  assert.equal(((await cache.fetch(request())) as Fetched).digest, 'b');
  assert.equal(state.asked, 3);
  // The cache notices that its file is missing.
  rmSync(newer.file);
  assert.ok(!cache.has(request()));
});

test('D43.8 downloads with a secret, of a collection, or of another address are not shared', async () => {
  const { state, cache } = world();
  for (const other of [
    { credentials: { authorization: 'Bearer x' } },
    { taxii: { form: 'taxii', collection: undefined } as const },
    { url: `${DROP}?x` },
  ]) {
    const before = state.asked;
    for (let n = 0; n < 2; n += 1) await ((await cache.fetch(request(other))) as Fetched)[Symbol.asyncDispose]();
    assert.deepEqual([state.asked - before, cache.caches(request(other))], [2, false]);
  }
});
