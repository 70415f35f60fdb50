/** Clients that wait for a change of their feed (SPEC D50), on both stores: only a wake-up rebuilds, for FEED_REBUILD_SECONDS is an hour. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { commandJson, commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, postSignals, type Reply } from '../support/http.ts';
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, startWeir, type Weir, weir } from '../support/weir.ts';

type Listed = { readonly user_agent: string; readonly enforced: { readonly verdict: string; readonly count: number } | null };
const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip });
const stream = (url: string, query: string, key = KEY, agent = 'follower/1'): Promise<Reply> =>
  ask(url, `/v1/decisions/stream?${query}`, { headers: { 'x-api-key': key, 'user-agent': agent } });

/** The changes of an answer, as +NETWORK and -NETWORK. */
function changesIn({ status, text }: Reply): string[] {
  assert.equal(status, 200, text);
  const { new: added, deleted } = JSON.parse(text) as Record<'new' | 'deleted', { value: string }[]>;
  return [...deleted.map(({ value }) => `-${value}`), ...added.map(({ value }) => `+${value}`)];
}

function waitingClients(engine: string, open: () => Promise<{ settings: Record<string, string>; weirs: Weir[] }>): void {
  let settings: Record<string, string>;
  /** Signals are sent to the first, clients wait at the last. */
  let weirs: Weir[];
  let [posting, waiting] = ['', ''];
  before(async () => {
    ({ settings, weirs } = await open());
    [posting, waiting] = [weirs[0]!.url, weirs.at(-1)!.url];
  });
  after(() => Promise.all(weirs.map((weir) => weir.kill('SIGKILL'))));
  const inWorkspace = ['--workspace', 'default'];
  /** Everything, and then a client that waits for a change of it. */
  const following = async (key = KEY, more = '') => {
    const first = await stream(waiting, `startup=true&wait=60${more}`, key);
    assert.equal(first.headers['x-feed-since'], undefined);
    let version = first.headers['x-feed-version']!;
    return async () => {
      const reply = await stream(waiting, `wait=60&since=${version}${more}`, key);
      assert.equal(reply.headers['x-feed-since'], version, reply.text);
      version = reply.headers['x-feed-version']!;
      return reply;
    };
  };

  test(`D50.1 ${engine}: a block and an unblock reach a client that waits, each once; feeds keep their validators`, async () => {
    const next = await following();
    const feed = await getFeed(waiting, KEY);
    for (const change of ['+192.0.2.1', '-192.0.2.1'] as const) {
      const [answer, { status }] = await Promise.all([
        next(),
        postSignals(posting, KEY, [{ ...block('192.0.2.1'), ...(change.startsWith('-') && { action: 'unblock' }) }]),
      ]);
      assert.equal(status, 200);
      assert.deepEqual(changesIn(answer), [change]);
    }
    const again = await getFeed(waiting, KEY);
    assert.deepEqual([again.text, again.headers.etag], [feed.text, feed.headers.etag]);
  });

  test(`D50.1 ${engine}: settings and guard rails wake as well; changes of other feeds do not`, async () => {
    await commandText(['list', 'create', 'edge', ...inWorkspace], settings);
    const key = await newKey(settings, 'default', '--permission', 'feed:read', '--permission', 'signal:write', '--list', 'edge');
    const next = await following(key);
    const [added] = await Promise.all([next(), postSignals(posting, key, [block('198.51.100.0/24')])]);
    assert.deepEqual(changesIn(added), ['+198.51.100.0/24']);
    const unlisted = next();
    // A change of another list answers nobody.
    await postSignals(posting, KEY, [block('192.0.2.77')]);
    await postSignals(posting, key, [block('203.0.113.7')]);
    assert.deepEqual(changesIn(await unlisted), ['+203.0.113.7']);
    const protect = ['workspace', 'set', 'default', '--protect', '198.51.100.0/25'];
    const [guarded] = await Promise.all([next(), commandText(protect, settings)]);
    assert.deepEqual(changesIn(guarded).sort(), ['+198.51.100.128/25', '-198.51.100.0/24']);
  });

  test(`D50.1 ${engine}: a client of a feed over its cap is told so at once, then waits for the end of that`, async () => {
    await commandText(['list', 'create', 'full', ...inWorkspace, '--max-entries', '1'], settings);
    const key = await newKey(settings, 'default', '--permission', 'feed:read', '--permission', 'signal:write', '--list', 'full');
    const next = await following(key);
    const version = (await stream(waiting, 'startup=true&wait=1', key)).headers['x-feed-version'];
    const [over] = await Promise.all([
      stream(waiting, `wait=60&since=${version}`, key),
      postSignals(posting, key, [block('192.0.2.1'), block('192.0.2.3')]),
    ]);
    assert.equal(over.status, 413);
    const [within] = await Promise.all([next(), commandText(['list', 'set', 'full', ...inWorkspace, '--max-entries', '2'], settings)]);
    assert.deepEqual(changesIn(within), ['+192.0.2.1', '+192.0.2.3']);
  });

  test(`D50.5 ${engine}: an answer names its version, and the count and digest of the feed's networks`, async () => {
    await postSignals(posting, KEY, [block('10.9.0.0/16'), block('9.0.0.1'), block('2001:db8::/32'), block('2001:db7::1')]);
    const next = await following();
    await postSignals(posting, KEY, [block('10.8.0.1'), block('8.8.8.0/24')]);
    let reply = await next();
    // Earlier blocks may land late.
    while (!changesIn(reply).includes('+8.8.8.0/24')) reply = await next();
    const { headers } = reply;
    const whole = await stream(waiting, 'startup=true&since=');
    const values = (JSON.parse(whole.text).new as { value: string }[]).map(({ value }) => value);
    const lines = values.map((value) => `${value.includes('/') ? value : `${value}/${value.includes(':') ? 128 : 32}`}\n`);
    const digest = createHash('sha256').update(lines.join('')).digest('hex');
    const facts = (given: Reply['headers']) => ['version', 'count', 'digest'].map((name) => given[`x-feed-${name}`]);
    assert.deepEqual(facts(headers), [facts(whole.headers)[0], String(lines.length), digest]);
    assert.deepEqual(facts(whole.headers), facts(headers));
    assert.equal((await stream(waiting, 'startup=true')).headers['x-feed-version'], undefined);
  });

  test(`D50.5 ${engine}: a version of another log gets everything; a client with a filter waits on while it selects nothing`, async () => {
    const other = await stream(waiting, `wait=60&since=${'0'.repeat(8)}-0000-0000-0000-000000000000.7`);
    assert.equal(other.headers['x-feed-since'], undefined);
    const next = await following(KEY, '&scopes=range');
    const answer = next();
    await postSignals(posting, KEY, [block('192.0.2.200')]);
    await postSignals(posting, KEY, [block('192.0.2.64/27')]);
    assert.deepEqual(changesIn(await answer), ['+192.0.2.64/27']);
  });

  test(`D50.6 ${engine}: what a firewall has is compared with what was sent for that version, and listed`, async () => {
    const { headers } = await stream(waiting, 'startup=true&wait=1', KEY, 'kernel/1');
    const [version, count, digest] = ['version', 'count', 'digest'].map((name) => headers[`x-feed-${name}`]!);
    const report = (enforced: unknown) =>
      ask(waiting, '/v1/usage-metrics', {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'user-agent': 'kernel/1' },
        body: JSON.stringify({ remediation_components: [], enforced }),
      });
    const right = { version, count: Number(count), digest };
    const wrong = { ...right, digest: digest!.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) };
    for (const [sent, verdict] of [
      [wrong, 'different'],
      [{ ...right, version: 'other' }, 'unknown'],
      [right, 'same'],
    ] as const) {
      // What the client has received is known when its answer has been sent whole.
      const listed = await eventually(async () => {
        assert.equal((await report(sent)).status, 201);
        const { text } = await ask(posting, '/v1/manage/bouncers', { headers: bearer(KEY) });
        const [each] = (JSON.parse(text).bouncers as Listed[]).filter(({ user_agent: agent }) => agent === 'kernel/1');
        assert.equal(each!.enforced?.verdict, verdict);
        return each!.enforced!;
        // All bouncers are written once a minute.
      }, 20_000);
      assert.equal(listed.count, Number(count));
    }
    const { stdout } = await weir(['bouncer', 'ls', '--workspace', 'default'], settings);
    assert.match(stdout, /kernel\/1 at 127\.0\.0\.1 has \d+ networks in its firewall, those of its feed \(read back \S+; different 2/);
    const { text: explained } = await ask(posting, '/v1/manage/lookup?target=10.9.0.1&path=true', { headers: bearer(KEY) });
    const feeds = JSON.parse(explained).feeds as { pulled_by: { told: { user_agent: string; verified_at: string | null }[] } | null }[];
    const verified = feeds.flatMap((feed) => feed.pulled_by?.told ?? []).find(({ user_agent: agent }) => agent === 'kernel/1');
    assert.ok(verified?.verified_at, explained);
    for (const [enforced, message] of [
      [7, 'enforced must be an object'],
      [{ ...right, version: 7 }, 'enforced.version must be a text of 128 characters at most'],
      [{ ...right, count: -1 }, 'enforced.count must be a number of networks'],
      [{ ...right, digest: 'x' }, 'enforced.digest must be a SHA-256 of 64 hexadecimal digits'],
    ] as const) {
      const { status, text } = await report(enforced);
      assert.deepEqual([status, JSON.parse(text)], [400, { message }]);
    }
  });

  test(`D50.1 ${engine}: at the end of its time a client gets an empty change`, async () => {
    const { headers } = await stream(waiting, 'startup=true&wait=1');
    const reply = await stream(waiting, `wait=1&since=${headers['x-feed-version']}`);
    assert.deepEqual([changesIn(reply), reply.headers['x-feed-version']], [[], headers['x-feed-version']]);
  });

  test(`D50.1 ${engine}: other values of wait are 400`, async () => {
    for (const wait of ['0', '61', '-1', '1.5', 'x', '', '100000']) {
      const { status, text } = await stream(waiting, `wait=${wait}`);
      assert.deepEqual([status, JSON.parse(text).message], [400, `wait must be a number of seconds from 1 to 60, not "${wait}"`]);
    }
  });

  test(`D50.3 ${engine}: clients of a key wait within WAITING_PER_KEY, and leave half of the connections to others`, async () => {
    const version = (await stream(waiting, 'startup=true&wait=60')).headers['x-feed-version'];
    const { key: other } = await commandJson<{ key: string }>(['key', 'create', ...inWorkspace, '--name', 'other'], settings);
    const fill = async (key: string, places: number) => {
      const refused = Promise.withResolvers<number>();
      const clients = Array.from({ length: places + 1 }, () =>
        get(
          `${waiting}/v1/decisions/stream?wait=60&since=${version}`,
          { headers: { 'x-api-key': key }, agent: false },
          ({ statusCode, headers }) => refused.resolve(Number(headers['retry-after'] && statusCode)),
        ).on('error', () => {}),
      );
      assert.equal(await refused.promise, 429);
      return clients;
    };
    const clients = [...(await fill(KEY, OF_KEY)), ...(await fill(other, PLACES - OF_KEY))];
    assert.equal((await getFeed(waiting, KEY)).status, 200);
    for (const client of clients) client.destroy();
  });

  test(`D50.7 ${engine}: a key that is revoked while its client waits gets no more changes`, async () => {
    const { id, key } = await commandJson<{ id: string; key: string }>(['key', 'create', ...inWorkspace, '--name', 'revoked'], settings);
    const { headers } = await stream(waiting, 'startup=true&wait=60', key);
    const answer = stream(waiting, `wait=60&since=${headers['x-feed-version']}`, key);
    await commandText(['key', 'revoke', id, '--yes'], settings);
    await eventually(async () => assert.equal((await stream(waiting, 'startup=true', key)).status, 403));
    await postSignals(posting, KEY, [block('192.0.2.99')]);
    assert.deepEqual([(await answer).status, (await answer).text], [403, '{"message":"access forbidden"}']);
  });

  test(`D50.4 ${engine}: a process that stops answers at once`, async () => {
    const next = await following();
    const answer = next();
    // The request is there before the signal: the connection of this one is newer.
    await stream(waiting, 'startup=true');
    const ended = weirs.at(-1)!.kill('SIGTERM');
    assert.deepEqual(changesIn(await answer), []);
    assert.equal(await ended, 0);
  });
}

const [PLACES, OF_KEY] = [20, 12];
const SETTINGS = {
  MAX_CONNECTIONS: String(2 * PLACES),
  WAITING_PER_KEY: String(OF_KEY),
  BOOTSTRAP_API_KEY: KEY,
  FEED_REBUILD_SECONDS: '3600',
  DRAIN_SECONDS: '1',
  RATE_LIMIT_FEEDS: '0',
};

suite('embedded', () => {
  const folder = temporaryFolder({ after });
  waitingClients('embedded', async () => {
    const settings = { ...smallGeo(folder), ...SETTINGS, DATA_DIR: join(folder, 'data') };
    return { settings, weirs: [await startWeir(settings)] };
  });
});

suite('PostgreSQL', { skip: noPostgres() }, () => {
  const folder = temporaryFolder({ after });
  let postgres: Postgres;
  after(() => postgres?.stop());
  waitingClients('PostgreSQL, another process', async () => {
    postgres = await startPostgres();
    const settings = { ...smallGeo(folder), ...SETTINGS, DATABASE_URL: await postgres.createDatabase(), DATA_DIR: join(folder, 'one') };
    const first = await startWeir(settings);
    return { settings, weirs: [first, await startWeir({ ...settings, DATA_DIR: join(folder, 'two'), ROLES: 'feeds' })] };
  });
});
