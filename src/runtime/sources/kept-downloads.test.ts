import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { SourceAnswer, SourceRequest } from '../../fetch/content-file.ts';
import { keptDownloads } from './kept-downloads.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-kept-'));
after(() => rmSync(folder, { recursive: true }));
const DROP = 'https://www.spamhaus.org/drop/drop_v4.json';
const HOUR = 3_600_000;
const request = (more: Partial<SourceRequest> = {}): SourceRequest => ({
  ...{ url: DROP, credentials: {}, known: undefined, signal: new AbortController().signal, ...more },
});

/** Downloads that are counted, each with a file of its own; `state.etag`: what the server has. */
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
    kept: keptDownloads(
      fetch,
      () => HOUR,
      () => state.now,
    ),
  };
}
type Fetched = Extract<SourceAnswer, { kind: 'fetched' }>;

test('D43.8 a download of an address of the catalogue serves all who ask within the interval of its host; its file goes when nobody reads it', async () => {
  const { state, kept } = world();
  assert.ok(!kept.has(request()));
  const first = (await kept.fetch(request())) as Fetched;
  state.now = HOUR - 1;
  assert.ok(kept.has(request()));
  const again = (await kept.fetch(request())) as Fetched;
  assert.deepEqual([state.asked, again.file], [1, first.file]);
  await again[Symbol.asyncDispose]();
  state.now = HOUR;
  state.etag = 'b';
  const newer = (await kept.fetch(request())) as Fetched;
  assert.deepEqual([state.asked, newer.digest, existsSync(first.file)], [2, 'b', true]);
  await first[Symbol.asyncDispose]();
  assert.deepEqual([existsSync(first.file), existsSync(newer.file)], [false, true]);
  // What has not changed is as good as another download.
  state.now = 3 * HOUR;
  assert.deepEqual(await kept.fetch(request({ known: { etag: 'b' } })), { kind: 'unchanged' });
  assert.equal(((await kept.fetch(request())) as Fetched).digest, 'b');
  assert.equal(state.asked, 3);
  // A file that somebody has removed serves nobody.
  rmSync(newer.file);
  assert.ok(!kept.has(request()));
});

test('D43.8 what is shown with a secret, is a collection, or is no address of the catalogue is kept for nobody', async () => {
  const { state, kept } = world();
  for (const other of [{ credentials: { authorization: 'Bearer x' } }, { taxii: { collection: undefined } }, { url: `${DROP}?x` }]) {
    const before = state.asked;
    for (let n = 0; n < 2; n += 1) await ((await kept.fetch(request(other))) as Fetched)[Symbol.asyncDispose]();
    assert.deepEqual([state.asked - before, kept.keeps(request(other))], [2, false]);
  }
});
