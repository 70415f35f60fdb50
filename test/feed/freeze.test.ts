/** Frozen feeds through the real service, on both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer } from '../support/http.ts';
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { eventually, startWeir } from '../support/weir.ts';
import { type Client, type Json, startWorld, type World } from '../support/world.ts';

const freezing = (name: string, settings: (folder: string) => Promise<Record<string, string>>) =>
  suite(name, { timeout: 300_000 }, () => {
    const cleanup: (() => unknown)[] = [];
    let world: World;
    let client: Client;

    before(async () => {
      const folder = temporaryFolder({ after: (work) => cleanup.push(work) });
      world = await startWorld(await settings(folder));
      client = await world.client('--role', 'admin');
    });
    after(async () => {
      await world?.stop();
      for (const work of cleanup) await work();
    });

    const weir = (...words: string[]) => world.text([...words, '--workspace', client.workspace]);
    async function manage(method: string, path: string, body?: Json, status = 200): Promise<Json> {
      const answer = await ask(world.weir().url, `/v1/manage${path}`, {
        ...{ method, headers: { ...bearer(client.key), 'content-type': 'application/json' } },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(answer.status, status, answer.text);
      return JSON.parse(answer.text) as Json;
    }
    async function send(list: string, ...entries: Json[]): Promise<void> {
      const answer = await client.post(`/v1/signal?list=${list}`, entries);
      assert.equal(answer.status, 200, answer.text);
      await world.landed();
    }
    const block = (ip: string, more: Json = {}) => ({ type: 'access_rules', action: 'block', ip, ...more });
    const allow = (list: string, value: string) => manage('POST', '/rules', { list, value, action: 'allow' });
    const get = async (feed: string, query = '') => {
      const target = `/v1/threat/feeds${feed && '/'}${feed}${query}`;
      const { status, text, headers } = await ask(world.weir().url, target, { headers: bearer(client.key) });
      return { status, text, tag: headers.etag };
    };

    test('D60.1 a frozen list, a composed feed and the feed of the workspace keep their bytes through every change', async () => {
      for (const list of ['edge', 'far']) await weir('list', 'create', list);
      await weir('feed', 'create', 'both', '--list', 'edge', '--list', 'far', '--subtract-allow', 'workspace');
      await send('edge', block('192.0.2.1'), block('2001:db8::/32'), { type: 'access_rules', action: 'block', asn: 'AS64500' });
      await send('far', block('203.0.113.0/24'));
      await allow('far', '203.0.113.9');
      const feeds = ['edge', 'both', ''];
      const content = new Map<string, Awaited<ReturnType<typeof get>>>();
      for (const feed of feeds) {
        assert.equal((await manage('POST', '/freeze', { ...(feed && { feed }), reason: 'a test' })).reason, 'a test');
        content.set(feed, await get(feed));
        assert.equal(content.get(feed)!.status, 200);
      }
      assert.match(content.get('both')!.text, /^203\.0\.113\.8\/32$/m, 'the never-block rule is subtracted');
      await manage('POST', '/freeze', { feed: 'edge' }, 409);
      const isUnchanged = async (what: string) => {
        for (const feed of feeds) assert.deepEqual(await get(feed), content.get(feed), `${feed || 'workspace'} after ${what}`);
      };
      await isUnchanged('nothing');
      const changes: Record<string, () => Promise<unknown>> = {
        signals: () => send('edge', block('192.0.2.77')),
        'a never-block rule': () => allow('edge', '198.51.100.7'),
        'a renewed list': () => send('far', block('192.0.2.200')),
        'rules by a command': () => weir('rule', 'delete', '--list', 'edge', '--yes'),
        settings: () => weir('feed', 'set', 'both', '--format', 'csv_indicator', '--action', 'allow'),
        'settings of a list': () => weir('list', 'set', 'edge', '--format', 'commented', '--subtract-allow', 'on'),
        'guard rails': () => world.text(['workspace', 'set', client.workspace, '--protect', '203.0.113.0/24']),
        members: () => weir('feed', 'set', 'both', '--list', 'edge'),
        undo: async () => {
          const [batch] = await world.json(['batch', 'ls', '--workspace', client.workspace]);
          await weir('undo', String(batch!.id), '--yes');
        },
        'a restart': () => world.restart(),
        'a crash': () => world.crash(),
        'a deleted list of the feed': () => weir('list', 'delete', 'far', '--yes'),
      };
      for (const [what, change] of Object.entries(changes)) {
        await change();
        await world.landed();
        await isUnchanged(what);
      }
    });

    test('D60.6 the preview of a thaw names what changes, and the thawed feed has the current rules and settings', async () => {
      await weir('list', 'create', 'later');
      await send('later', block('192.0.2.40'), block('192.0.2.42'));
      await manage('POST', '/freeze', { feed: 'later', reason: 'a look' });
      await weir('rule', 'delete', '--list', 'later', '--yes');
      await send('later', block('192.0.2.44'));
      await weir('list', 'set', 'later', '--format', 'commented');
      const { frozen_feeds: frozen } = (await manage('GET', '/status')) as { frozen_feeds: Json[] };
      assert.deepEqual(
        frozen.filter(({ name }) => name === 'later').map(({ reason, hours }) => [reason, hours]),
        [['a look', 0]],
      );
      assert.equal((await get('later')).text, '192.0.2.40/32\n192.0.2.42/32\n');
      const since = ((await manage('GET', '/freezes')) as { freezes: Json[] }).freezes.find(({ name }) => name === 'later')!.frozen_since;
      const { feeds } = (await manage('GET', '/lookup?target=192.0.2.44&feed=later')) as { feeds: Json[] };
      const [dry] = JSON.parse((await client.post('/v1/signal?list=later&dry_run=true', [block('192.0.2.46')])).text).feeds as Json[];
      const compared = await manage('GET', '/difference?feed=later&since=1m');
      assert.deepEqual([feeds[0]!.frozen_since, dry!.frozen_since, compared.frozen_since], [since, since, since]);
      const { difference, thawed } = (await manage('POST', '/thaw', { feed: 'later', preview: true })) as {
        difference: Json;
        thawed: boolean;
      };
      const named = [thawed, difference.added_networks, difference.removed_networks];
      assert.deepEqual(named, [false, ['192.0.2.44'], ['192.0.2.40', '192.0.2.42']]);
      await weir('feed', 'thaw', 'later', '--yes', '--reason', 'over');
      await manage('POST', '/thaw', { feed: 'later' }, 409);
      assert.match((await get('later')).text, /^#.*192\.0\.2\.44\/32/s);
      const { entries } = (await manage('GET', '/audit?limit=2')) as { entries: { event: string }[] };
      assert.equal(entries[0]!.event, 'feed thawed');
    });

    test('D60.4 bouncers have the frozen networks', async () => {
      await weir('list', 'create', 'bounced');
      await send('bounced', block('192.0.2.20'));
      await manage('POST', '/freeze', { feed: 'bounced' });
      await send('bounced', block('192.0.2.23'));
      const key = await newKey(world.settings, client.workspace, '--list', 'bounced');
      const values = async () => {
        const { status, text } = await ask(world.weir().url, '/v1/decisions/stream?startup=true', { headers: { 'x-api-key': key } });
        assert.equal(status, 200, text);
        return ((JSON.parse(text) as { new: { value: string }[] | null }).new ?? []).map(({ value }) => value);
      };
      assert.deepEqual(await values(), ['192.0.2.20']);
      await manage('POST', '/thaw', { feed: 'bounced' });
      assert.deepEqual((await values()).sort(), ['192.0.2.20', '192.0.2.23']);
    });

    test('D65.1, D65.2, D65.6 large changes through every entry point reach two canaries of 20 devices only; kills change nothing', async (t) => {
      const made = async (name: string) =>
        (await manage('POST', '/keys', { name, permissions: ['feed:read'] }, 201)) as { id: string; key: string };
      const devices = await Promise.all(Array.from({ length: 20 }, (_, n) => made(`device-${n}`)));
      await world.text(['workspace', 'set', client.workspace, '--large', 'all', '--protect', 'none']);
      await weir('list', 'create', 'member');
      await weir('list', 'create', 'wide');
      await weir('feed', 'create', 'edges', '--lists', 'member,wide', '--canary-keys', `device-0,${devices[1]!.id}`);
      await send('member', block('192.0.2.1'));
      await send('wide', block('198.51.100.0/24'));
      /** The feed without small changes; while a large one waits, every poll of the others has these lines. */
      let baseline: string[] | undefined;
      const steady = (text: string) => text.split('\n').filter((line) => !/^(203\.0\.113|12\.0)\./.test(line));
      // On PostgreSQL, another process serves half of the devices.
      const other =
        'DATABASE_URL' in world.settings ? await startWeir({ ...world.settings, DATA_DIR: temporaryFolder(t), ROLES: 'feeds' }) : undefined;
      t.after(() => other?.kill('SIGTERM'));
      const fetch = async (n: number) => {
        const { url } = n % 2 === 1 ? (other ?? world.weir()) : world.weir();
        const { status, text, headers } = await ask(url, '/v1/threat/feeds/edges', { headers: bearer(devices[n]!.key) });
        assert.equal(status, 200, text);
        if (n > 1 && baseline !== undefined) assert.deepEqual(steady(text), baseline, `device ${n}`);
        return { text, canary: headers['x-feed-canary'], date: Date.parse(String(headers['last-modified'])) };
      };
      const all = () => Promise.all(devices.map((_, n) => fetch(n)));
      const changes: Record<string, () => Promise<unknown>> = {
        'a network by hand': () => manage('POST', '/rules', { list: 'wide', value: '10.0.0.0/8', action: 'block' }),
        'a country': () => manage('POST', '/rules', { list: 'wide', value: 'AS64500', action: 'block' }),
        signals: () => send('wide', block('11.0.0.0/8')),
        'split signals': async () => {
          for (const ip of ['12.0.0.0/17', '12.0.128.0/17', '12.1.0.0/17']) await send('wide', block(ip));
        },
        'a setting': () => weir('feed', 'set', 'edges', '--subtract-allow', 'on'),
        'guard rails': () => world.text(['workspace', 'set', client.workspace, '--protect-add', '198.51.100.0/25']),
        'another quorum': () => weir('feed', 'set', 'edges', '--min-sources', '2'),
      };
      let small = 0;
      for (const [what, change] of Object.entries(changes)) {
        const before = await all();
        baseline = steady(before[2]!.text);
        await Promise.all([change(), all()]);
        if (small % 3 === 0) await world.crash();
        small += 1;
        await send('member', block(`203.0.113.${2 * small}`));
        const added = (text: string) => text.includes(`203.0.113.${2 * small}/32`) || what === 'another quorum';
        let after: Awaited<ReturnType<typeof all>> = [];
        // A second content within a second waits for the next one.
        await eventually(async () => {
          after = await all();
          assert.deepEqual(
            after.map(({ canary }) => canary?.split(';')[0]),
            devices.map((_, n) => (n < 2 ? 'receives' : 'waits')),
            what,
          );
          assert.ok(
            after.every(({ text }) => added(text)),
            `${what}: the small block reaches all`,
          );
          for (const [n, { date }] of after.entries()) assert.ok(date > before[n]!.date, `${what}: a later date for ${n}`);
        });
        const hasEffect = what !== 'a country' && what !== 'a setting';
        for (const n of [0, 1]) assert.equal(String(steady(after[n]!.text)) !== String(baseline), hasEffect, `${what} reaches canary ${n}`);
        if (what === 'a country') {
          await weir('canary', 'stop', 'edges', '--reason', 'wrong');
          assert.equal((await fetch(3)).canary, 'waits; stopped');
          const again = (await manage('POST', '/freeze', { feed: 'edges' }, 409)) as { message: string };
          assert.match(again.message, /waits for its canaries.*stop the canary/);
          assert.match(JSON.stringify((await manage('GET', '/status')).attention), /a large change of the feed .*stopped/);
        }
        baseline = undefined;
        await weir('canary', 'promote', 'edges');
        await eventually(async () => {
          const promoted = await all();
          assert.equal(new Set(promoted.map(({ text, date }) => `${date} ${text}`)).size, 1, what);
          for (const [n, { date, canary }] of promoted.entries()) assert.ok(canary === undefined && date > after[n]!.date, `${what}: ${n}`);
        });
      }
    });

    test('D65.1, D65.6, D65.7 the feed of the workspace has canaries, and stops at an overlap', async () => {
      const { workspace, key } = await world.client('--role', 'admin');
      const run = (...words: string[]) => world.text([...words, '--workspace', workspace]);
      await world.text(['workspace', 'set', workspace, '--protect', 'none', '--canary-keys', 'lab-own', '--canary-minutes', '5']);
      const keys = await Promise.all(['lab-own', 'site-own'].map((name) => newKey(world.settings, workspace, '--name', name)));
      const feeds = () =>
        Promise.all(
          keys.map(async (own) => {
            const { text, headers } = await ask(world.weir().url, '/v1/threat/feeds', { headers: bearer(own) });
            return [text, headers['x-feed-canary']?.replace(/=.*/, '')];
          }),
        );
      const rule = async (value: string, action: string) => {
        const body = JSON.stringify({ value, action });
        const { status, text } = await ask(world.weir().url, '/v1/manage/rules', { method: 'POST', headers: bearer(key), body });
        assert.equal(status, 200, text);
        await world.landed();
      };
      await rule('192.0.2.9', 'allow');
      await rule('10.0.0.0/8', 'block');
      assert.deepEqual(await feeds(), [
        ['10.0.0.0/8\n', 'receives; until'],
        ['', 'waits; until'],
      ]);
      await rule('192.0.0.0/9', 'block');
      await eventually(async () =>
        assert.deepEqual(await feeds(), [
          ['10.0.0.0/8\n192.0.0.0/9\n', 'receives; stopped'],
          ['', 'waits; stopped'],
        ]),
      );
      const { text } = await ask(world.weir().url, '/v1/manage/status', { headers: bearer(key) });
      assert.match(text, /192\.0\.0\.0\/9 overlaps the never-block rule 192\.0\.2\.9\) waits since/);
      await run('canary', 'promote');
      await eventually(async () =>
        assert.deepEqual(await feeds(), [
          ['10.0.0.0/8\n192.0.0.0/9\n', undefined],
          ['10.0.0.0/8\n192.0.0.0/9\n', undefined],
        ]),
      );
    });

    test('D65.11 the streams of canaries have a large change first, also while they wait, and delete it again if it is undone', async () => {
      await world.text(['workspace', 'set', client.workspace, '--large', 'all', '--protect', 'none']);
      await weir('list', 'create', 'streamed', '--canary-keys', 'lab-stream');
      await send('streamed', block('192.0.2.20'));
      const keys = await Promise.all(
        ['lab-stream', 'site-stream'].map((name) => newKey(world.settings, client.workspace, '--list', 'streamed', '--name', name)),
      );
      const stream = async (n: number, query: string) => {
        const { status, text } = await ask(world.weir().url, `/v1/decisions/stream?${query}`, { headers: { 'x-api-key': keys[n]! } });
        assert.equal(status, 200, text);
        const { new: added, deleted } = JSON.parse(text) as Record<string, { value: string }[] | null>;
        const values = (of: { value: string }[] | null | undefined) => (of ?? []).map(({ value }) => value).sort();
        return { added: values(added), deleted: values(deleted) };
      };
      /** Networks of each bouncer, as it keeps them. */
      const has = [new Set<string>(), new Set<string>()];
      const poll = async (n: number, query: string) => {
        const { added, deleted } = await stream(n, query);
        for (const value of deleted) has[n]!.delete(value);
        for (const value of added) has[n]!.add(value);
        return [...has[n]!].sort();
      };
      for (const n of [0, 1]) assert.deepEqual(await poll(n, 'startup=true'), ['192.0.2.20']);
      const first = poll(0, 'wait=30');
      const other = poll(1, 'wait=30');
      await send('streamed', block('10.0.0.0/8'));
      assert.deepEqual(await first, ['10.0.0.0/8', '192.0.2.20']);
      await send('streamed', block('203.0.113.77'));
      assert.deepEqual(await other, ['192.0.2.20', '203.0.113.77']);
      assert.deepEqual(await poll(0, 'startup=false'), ['10.0.0.0/8', '192.0.2.20', '203.0.113.77']);
      await send('streamed', { type: 'access_rules', action: 'unblock', ip: '10.0.0.0/8' });
      await send('streamed', block('10.1.0.0/16'), block('10.2.0.0/16'));
      assert.deepEqual(await poll(0, 'startup=false'), ['10.1.0.0/16', '10.2.0.0/16', '192.0.2.20', '203.0.113.77']);
      await world.crash();
      assert.deepEqual(await poll(0, 'startup=false'), ['10.1.0.0/16', '10.2.0.0/16', '192.0.2.20', '203.0.113.77']);
      assert.deepEqual(await poll(1, 'startup=false'), ['192.0.2.20', '203.0.113.77']);
      const ended = [poll(0, 'wait=30'), poll(1, 'wait=30')];
      await send('streamed', { type: 'access_rules', action: 'unblock', ip: '10.1.0.0/16' });
      await weir('canary', 'promote', 'streamed');
      await Promise.all(ended);
      for (const n of [0, 1]) assert.deepEqual(await poll(n, 'startup=false'), ['10.2.0.0/16', '192.0.2.20', '203.0.113.77']);
    });

    test('D60.5 a deleted feed is no longer frozen', async () => {
      await weir('list', 'create', 'gone');
      await send('gone', block('192.0.2.30'));
      await manage('POST', '/freeze', { feed: 'gone' });
      await weir('list', 'delete', 'gone', '--yes');
      assert.equal((await get('gone')).status, 404);
      assert.ok(!JSON.stringify(await manage('GET', '/freezes')).includes('gone'));
    });
  });

freezing('frozen feeds, SQLite', async (folder) => ({ ...smallGeo(folder), DATA_DIR: folder }));

suite('PostgreSQL', { skip: noPostgres() }, () => {
  let postgres: Postgres;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres?.stop());
  freezing('frozen feeds', async (folder) => ({ ...smallGeo(folder), DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase() }));
});
