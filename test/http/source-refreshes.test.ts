/** Refreshes of sources as people see them: asked for, held, accepted, discarded, undone, told (SPEC D23.18, D23.22, D23.23). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addressCount, addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { command, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, readyz } from '../support/http.ts';
import { address, type ListServer, list, listServer, status } from '../support/list-server.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of several operations
  readonly body: any;
}

suite('refreshes of sources', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0', SOURCE_NETWORKS: '127.0.0.1', LOG_LEVEL: 'error' },
    ...{ ...smallGeo(folder), RATE_LIMIT_MANAGE: '0', RATE_LIMIT_FEEDS: '0', PROTECTED_NETWORKS: 'private', MIN_PREFIX_V4: '8' },
  };
  let weir: Weir;
  let server: ListServer;
  before(async () => {
    [weir, server] = await Promise.all([startWeir(settings), listServer()]);
  });
  after(async () => {
    await weir.kill('SIGKILL');
    await server[Symbol.asyncDispose]();
  });
  const call = async (method: string, path: string, body?: object): Promise<Answer> => {
    const reply = await fetch(`${weir.url}/v1/manage${path}`, {
      ...{ method, headers: { authorization: `Bearer ${KEY}` }, ...(body && { body: JSON.stringify(body) }) },
    });
    return { status: reply.status, body: await reply.json() };
  };
  const text = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `${address(from + n)}\n`).join('');
  const cli = (...args: string[]) => command(['source', ...args, '--workspace', 'default'], settings);
  const feed = async () => (await getFeed(weir.url, KEY, '/drop')).text;

  test('D23.22, D23.18, D44.10, D44.11, D53.10 a refresh is asked for, held with what it would do to feeds, accepted, and undone to the bytes before it', async () => {
    server.set('/drop', list(text(0, 200)));
    assert.equal((await call('POST', '/sources', { name: 'drop', url: `${server.url}/drop` })).status, 201);
    const first = await cli('refresh', 'drop', '--wait');
    assert.deepEqual([first.code, /^drop: (applied|unchanged), 200 entries/.test(first.stdout)], [0, true], first.stdout + first.stderr);
    await eventually(async () => assert.equal((await feed()).split('\n').length, 201));

    server.set('/drop', list(text(5, 205)));
    assert.match((await cli('refresh', 'drop', '--wait')).stdout, /^drop: applied, 200 entries, 5 added, 5 removed/);
    const good = await eventually(async () => {
      const bytes = await feed();
      assert.ok(bytes.includes(`${address(204)}/32`));
      return bytes;
    });

    assert.equal((await call('GET', '/sources/drop/held')).status, 409);
    assert.equal((await call('GET', '/sources/drop/held/addresses')).status, 409);
    // Guard rails refuse the last of them.
    server.set('/drop', list(`${text(500, 800)}10.0.0.0/8\n`));
    const poisoned = await cli('refresh', 'drop', '--wait');
    assert.equal(poisoned.code, 1);
    assert.match(poisoned.stdout, /^drop: held, .* 200 of 200 entries would be removed, more than 50 %; 300 would be added/);
    const { body: held } = await call('GET', '/sources/drop/held');
    assert.deepEqual([held.present, held.added, held.removed, held.refused, held.unchanged], [200, 300, 200, 1, 0]);
    const changed = held.feeds.find((each: { name: string }) => each.name === 'drop');
    assert.deepEqual([changed.entries_before, changed.entries_after], [200, 300]);
    const own = [address(7), address(500), address(900)];
    for (const value of own) assert.equal((await call('POST', '/rules', { value })).status, 200);
    const { body: networks } = await call('GET', '/sources/drop/held/addresses?limit=100000');
    const network = (text: string) => parseNetwork(text) as Network;
    const single = (all: string[]) => addressSet(all.map(network));
    assert.deepEqual([networks.added.detections, networks.removed.detections], [1, 1]);
    for (const [found, from, to] of [
      [networks.added, 500, 800],
      [networks.removed, 5, 205],
    ] as const) {
      assert.equal(found.count, found.networks.length);
      const set = single(found.networks);
      assert.deepEqual(addressCount(set), { v4: to - from, v6: 0 });
      for (let n = from; n < to; n += 1) assert.ok(overlaps(set, network(address(n))), address(n));
    }
    const { body: sample } = await call('GET', '/sources/drop/held/addresses?limit=1');
    assert.deepEqual([sample.added.networks, sample.added.count], [networks.added.networks.slice(0, 1), networks.added.count]);
    const { body: told } = await call('GET', '/status');
    assert.ok(
      told.attention.some((line: string) => /^the source "drop" of default has a refresh on hold: /.test(line)),
      told.attention.join(),
    );
    assert.equal(await feed(), good);

    assert.equal((await call('POST', '/sources/drop/accept', { replacement: '0195a3c0-0000-7000-8000-000000000006' })).status, 409);
    assert.equal((await call('POST', '/sources/drop/accept', { replacement: held.replacement })).status, 202);
    await eventually(async () => assert.equal((await feed()).split('\n').length, 301));
    const { body } = await eventually(async () => {
      const found = await call('GET', '/sources/drop');
      assert.deepEqual([found.body.asked, found.body.held], [null, null]);
      return found;
    });
    assert.deepEqual([body.state, body.entries], ['ok', 300]);

    const [run] = (await call('GET', '/sources/drop/runs')).body.runs;
    assert.deepEqual([run.outcome, run.added, run.removed, run.refused, run.replacement], ['applied', 300, 200, 1, held.replacement]);
    const undone = await call('POST', '/undo', { batches: [held.replacement] });
    assert.equal(undone.status, 200);
    const { body: now } = await call('GET', '/sources/drop');
    assert.deepEqual(
      [now.state, undone.body.undone.some((each: { undone_by: string }) => each.undone_by === now.undone_by)],
      ['undone', true],
    );
    assert.equal(now.entries, 200);
    assert.match((await cli('show', 'drop')).stdout, new RegExp(`^state +undone$[^]* applied .* ${held.replacement} *$`, 'm'));
    await eventually(async () => assert.equal(await feed(), good));
    // What was undone does not come again by itself.
    assert.match(
      (await cli('refresh', 'drop', '--wait')).stdout,
      /^drop: unchanged, .*: the content is still the one that was undone by batch/,
    );
    assert.equal(await feed(), good);
  });

  test('D23.22 what cannot be asked is refused in a sentence; what is discarded is not asked about again', async () => {
    server.set('/other', list(text(0, 30)));
    await call('POST', '/sources', { name: 'other', url: `${server.url}/other` });
    assert.equal((await cli('refresh', 'other', '--wait')).code, 0);
    assert.equal((await call('POST', '/sources/other/discard', {})).body.message, 'the source "other" has no refresh on hold');
    server.set('/other', list('# moved\n'));
    assert.match((await cli('refresh', 'other', '--wait')).stdout, /held.*it is empty/);
    assert.equal((await cli('discard', 'other', '--wait')).code, 0);
    assert.match((await cli('refresh', 'other', '--wait')).stdout, /unchanged.*still the one that was discarded/);
    await call('POST', '/sources/other/pause', {});
    const paused = await cli('refresh', 'other');
    assert.deepEqual([paused.code, paused.stderr.trim()], [2, 'weir: the source "other" is paused: resume it']);
  });

  test('D43.10 contents in parts that nobody finishes stop neither refreshes nor imports', async () => {
    const key = await newKey(settings, 'default', '--permission', 'signal:write');
    const open = (of: string, list: string) => {
      const options = { method: 'POST', headers: { authorization: `Bearer ${of}` }, body: JSON.stringify({ list }) };
      return fetch(`${weir.url}/v1/manage/replacements`, options);
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) assert.equal((await call('POST', '/lists', { name })).status, 201);
    for (const name of names.slice(0, 4)) assert.equal((await open(key, name)).status, 201);
    const full = await open(key, 'e');
    assert.deepEqual([full.status, full.headers.get('retry-after')], [429, '60']);
    server.set('/beside', list(text(0, 30)));
    assert.equal((await call('POST', '/sources', { name: 'beside', url: `${server.url}/beside` })).status, 201);
    assert.match((await cli('refresh', 'beside', '--wait')).stdout, /^beside: (applied|unchanged), 30 entries/);
    const imported = await fetch(`${weir.url}/v1/manage/imports?list=e&replace=1`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body: '198.51.100.7\n' },
    });
    assert.equal(imported.status, 200, await imported.text());
  });

  test('D23.23 a source that fails is told by status, and makes no process unready', async () => {
    server.set('/away', status(500));
    await call('POST', '/sources', { name: 'away', url: `${server.url}/away` });
    for (let n = 0; n < 3; n += 1) await cli('refresh', 'away', '--wait');
    const { body } = await call('GET', '/status');
    assert.ok(
      body.attention.some((line: string) =>
        /^the source "away" of default has failed \d+ times in a row: the server answers 500/.test(line),
      ),
    );
    assert.equal((await readyz(weir.url)).status, 200);
  });
});
