/** Bouncers against a running weir: the addresses over HTTP, Debian's firewall bouncer, and the library that most are made of. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { usageReports } from '../../src/cli/hits/attribution.ts';
import { FeedHour } from '../support/bouncer-hour.ts';
import { bouncerLibrary, withoutLibrary } from '../support/bouncer-library.ts';
import { type Decision, secondsOf, valuesOf } from '../support/bouncer-world.ts';
import { commandJson, commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, freePort, getFeed, postSignals } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const run = promisify(execFile);
const UNTIL = Number(process.env.TEST_BOUNCER_WAIT ?? 120_000);
/** Single addresses, a power of two: for every 200 the client reads its whole set, so 32,768 take minutes. */
const MANY = Number(process.env.TEST_BOUNCER_ADDRESSES ?? 1024);
/** Networks that the client takes in ipset mode, a multiple of 8: it starts a program for each, so 50,000 take a minute of CPU. */
const NETWORKS = Number(process.env.TEST_BOUNCER_NETWORKS ?? 1024);
/** Networks that nft takes at once. */
const LOADED = 50_000;

/** Kernel sets of 50,000 elements are long texts. */
const BIG = { maxBuffer: 1 << 28 };
const isRoot = process.getuid?.() === 0;
const noLibrary = withoutLibrary();

suite('bouncers', () => {
  const folder = temporaryFolder({ after });
  let settings: Record<string, string>;
  let weir: Weir;
  before(async () => {
    const PORT = String(await freePort());
    const fast = { FEED_REBUILD_SECONDS: '0', LOG_LEVEL: 'info', DRAIN_SECONDS: '0', RATE_LIMIT_FEEDS: '0' };
    settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, PORT, ...fast };
    weir = await startWeir(settings);
    await makeList('marks');
  });
  after(() => weir.kill('SIGKILL'));
  // Where it has not been built before, that takes one core while the other tests wait for timers and pulls.
  const ended = new AbortController();
  const library = noLibrary === false ? bouncerLibrary(ended.signal) : undefined;
  library?.catch(() => {});
  after(() => ended.abort());

  const inWorkspace = ['--workspace', 'default'];
  const makeList = (name: string, ...options: string[]) => commandText(['list', 'create', name, ...inWorkspace, ...options], settings);
  const keyOf = (...options: string[]) => newKey(settings, 'default', '--permission', 'feed:read', ...options);
  const post = async (address: string, entries: readonly object[]) => {
    for (let at = 0; at < entries.length; at += 1000) {
      const { status, text } = await postSignals(weir.url, KEY, entries.slice(at, at + 1000), address);
      assert.equal(status, 200, text);
    }
  };
  let marks = 0;
  /** All that was accepted is in the feeds: what lands later than it is. */
  const landed = async () => {
    marks += 2;
    const mark = `100.64.0.${marks}`;
    await post('/v1/signal?list=marks', [{ type: 'access_rules', action: 'block', ip: mark }]);
    await eventually(async () => assert.ok((await feed('marks')).includes(mark)), UNTIL);
  };
  const sendFor = async (list: string, expiration: number, action: string, ...targets: string[]) => {
    const entries = targets.map((target) => ({ type: 'access_rules', action, ...targetOf(target), expiration }));
    await post(`/v1/signal?list=${list}`, entries);
    await landed();
  };
  const allow = async (list: string, ...targets: string[]) => {
    const rules = targets.map((target) => ({ target: targetOf(target), action: 'allow' }));
    await post(
      `/v2/signal?list=${list}`,
      rules.map((rule) => ({ kind: 'access_rule', op: 'upsert', rule })),
    );
    await landed();
  };
  const send = (list: string, action: string, ...targets: string[]) => sendFor(list, 3600, action, ...targets);
  const pull = (key: string, query = '', headers = {}) =>
    ask(weir.url, `/v1/decisions/stream${query}`, { headers: { 'x-api-key': key, 'user-agent': 'test/1', ...headers } });
  const values = (decisions: readonly Decision[]) => decisions.map(({ value }) => value).sort();
  const feed = async (list: string) => valuesOf((await getFeed(weir.url, KEY, `/${list}`)).text);
  /** A feed that has changed within this second already shows what has landed since in the next one only. */
  const shows = (list: string, added: readonly string[], removed: readonly string[] = []) =>
    eventually(async () => {
      const held = new Set(await feed(list));
      const wrong = [...added.filter((value) => !held.has(value)), ...removed.filter((value) => held.has(value))];
      assert.deepEqual(wrong, []);
    }, UNTIL);

  test('D14.1, D14.2, D14.11 a key bound to a list gets its decisions, compressed where it asks; errors are those of the protocol', async () => {
    await makeList('http');
    await send('http', 'block', '192.0.2.1', '198.51.100.0/24');
    const key = await keyOf('--list', 'http');
    const plain = await pull(key, '?startup=true');
    assert.deepEqual([plain.status, plain.headers['content-type']], [200, 'application/json; charset=utf-8']);
    assert.deepEqual(values(JSON.parse(plain.text).new), ['192.0.2.1', '198.51.100.0/24']);
    assert.deepEqual(JSON.parse(plain.text).new[0].scenario, 'http');
    const zipped = await pull(key, '?startup=true', { 'accept-encoding': 'gzip' });
    assert.deepEqual([zipped.headers['content-encoding'], gunzipSync(zipped.bytes).toString()], ['gzip', plain.text]);
    for (const wrong of ['', 'x'.repeat(30)]) {
      const refused = await pull(wrong);
      assert.deepEqual([refused.status, refused.text], [403, '{"message":"access forbidden"}']);
    }
    const writer = await pull(await newKey(settings, 'default', '--permission', 'signal:write'));
    assert.deepEqual([writer.status, writer.text], [403, '{"message":"The API key does not have the permission feed:read"}']);
    const method = await ask(weir.url, '/v1/decisions', { method: 'DELETE' });
    assert.deepEqual(
      [method.status, method.headers.allow, method.text],
      [405, 'GET, HEAD', '{"message":"Method not allowed, use GET or HEAD"}'],
    );
    assert.deepEqual((await ask(weir.url, '/v1/decisions/other')).text, '{"message":"There is nothing at this address"}');
  });

  test('D14.3, D14.8 HEAD says whether the key is good and changes nothing; look-ups', async () => {
    const key = await keyOf('--list', 'http');
    for (let n = 0; n < 3; n++) {
      for (const path of ['/v1/decisions/stream', '/v1/decisions']) {
        const { status, text } = await ask(weir.url, path, { method: 'HEAD', headers: { 'x-api-key': key, 'user-agent': 'test/1' } });
        assert.deepEqual([status, text], [200, '']);
      }
    }
    assert.equal((await ask(weir.url, '/v1/decisions', { method: 'HEAD', headers: { 'x-api-key': 'wrong-wrong' } })).status, 403);
    assert.equal(JSON.parse((await pull(key)).text).new.length, 2, 'it has not pulled before');
    const held = (query: string) => ask(weir.url, `/v1/decisions${query}`, { headers: bearer(key) });
    assert.equal(JSON.parse((await held('?ip=198.51.100.7')).text)[0].value, '198.51.100.0/24');
    assert.equal((await held('?ip=198.51.101.7')).text, 'null');
    assert.match((await held('?ip=198.51.101.777')).text, /^\{"message":/);
  });

  test('D14.10, D14.12, D14.13 usage metrics, and what weir bouncer ls and the log tell', async () => {
    await makeList('narrow', '--single-addresses', '16');
    await send('narrow', 'block', '192.0.2.0/28', '198.51.100.0/24');
    const key = await keyOf('--list', 'narrow');
    const name = { 'x-api-key': key, 'user-agent': 'crowdsec-firewall-bouncer/v1' };
    assert.equal(JSON.parse((await pull(key, '', name)).text).new.length, 16);
    const http = { ...name, 'x-api-key': await keyOf('--list', 'http') };
    await pull(http['x-api-key'], '', http);
    const report = (body: string) => ask(weir.url, '/v1/usage-metrics', { method: 'POST', headers: name, body });
    assert.deepEqual([(await report('{"remediation_components":[]}')).status, (await report('[1')).status], [201, 400]);
    assert.equal((await report(JSON.stringify({ a: 'x'.repeat(300_000) }))).status, 413);
    await eventually(() => {
      const lines = weir.output().stderr;
      assert.match(lines, /does not get 1 network with 256 addresses/);
      assert.match(lines, /gets 1 network: its ipset mode enforces them; in nftables mode/);
    });
    await weir.kill('SIGTERM');
    const rows = await commandJson<Record<string, unknown>[]>(['bouncer', 'ls', ...inWorkspace], settings);
    const narrow = rows.find(({ decisions }) => decisions === 16)!;
    assert.deepEqual(
      [narrow.user_agent, narrow.networks, narrow.left_out_networks, narrow.left_out_addresses, narrow.usage_metrics],
      ['crowdsec-firewall-bouncer/v1', 0, 1, 256, { remediation_components: [] }],
    );
    assert.match(await commandText(['bouncer', 'ls', ...inWorkspace], settings), /1 \(256 addresses\)/);
    weir = await startWeir(settings);
  });

  const namespaces = isRoot ? needs('crowdsec-firewall-bouncer', 'ip', 'ipset', 'nft') : 'needs root';
  suite('the firewall bouncer in a network namespace', { skip: namespaces }, () => {
    const open: (() => unknown)[] = [];
    let cut = 0;
    let anHour: Promise<{ readonly seconds: number; readonly missing: readonly string[] }>;
    let lapsing: { readonly pulling: Bouncer; readonly stopped: Bouncer };
    before(async () => {
      await makeList('networks');
      await makeList('hosts', '--single-addresses', '65536');
      // The last test looks at what has become of these.
      await makeList('lapsing');
      const key = await keyOf('--list', 'lapsing');
      const [one, two] = [await namespaceOf(0), await namespaceOf(1)];
      const [pulling, stopped] = [await startBouncer(one, 'ipset', key), await startBouncer(two, 'ipset', key)];
      await sendFor('lapsing', 60, 'block', '203.0.113.60', '203.0.113.70', '2001:db8::/40');
      await send('lapsing', 'block', '203.0.113.61', '198.51.100.0/25');
      await shows('lapsing', ['203.0.113.60/31', '203.0.113.70', '198.51.100.0/25']);
      for (const bouncer of [pulling, stopped]) await rest(bouncer, () => feed('lapsing'));
      assert.ok((await stopped.blocked()).includes('203.0.113.60/31'));
      await stopped.stop();
      await send('lapsing', 'block', '203.0.113.70');
      lapsing = { pulling, stopped };
      anHour = hourOfFirewall();
      // Looked at by a test of its own.
      anHour.catch(() => {});
    });
    after(async () => {
      for (const close of open.reverse()) await close();
    });

    /** A namespace that reaches weir through a proxy, which cuts the next `cut` answers of a stream off in their middle. */
    async function namespaceOf(number: number, answering?: RequestListener) {
      const name = `weir${process.pid}-${number}`;
      const [near, far] = [`wb${process.pid % 100_000}${number}`, `wc${process.pid % 100_000}${number}`];
      const base = `10.203.${process.pid % 250}`;
      const [here, there] = [`${base}.${4 * number + 1}`, `${base}.${4 * number + 2}`];
      const ip = (...args: string[]) => run('ip', args);
      await ip('netns', 'add', name);
      open.push(() => ip('netns', 'del', name));
      await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
      await ip('addr', 'add', `${here}/30`, 'dev', near);
      await ip('link', 'set', near, 'up');
      await ip('-n', name, 'addr', 'add', `${there}/30`, 'dev', far);
      await ip('-n', name, 'link', 'set', far, 'up');
      const proxy = await startProxy(here, answering ?? proxied);
      return {
        within: (program: string, ...args: string[]) => run('ip', ['netns', 'exec', name, program, ...args], BIG),
        name,
        url: proxy,
      };
    }
    const proxied: RequestListener = (asked, answer) => {
      const headers = { ...asked.headers, connection: 'close' };
      const on = request(new URL(asked.url!, weir.url), { method: asked.method!, headers }, async (response) => {
        const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
        answer.writeHead(response.statusCode!, { ...response.headers, 'content-length': body.length, connection: 'close' });
        if (cut === 0) return void answer.end(body);
        cut -= 1;
        answer.write(body.subarray(0, body.length / 2), () => answer.destroy());
      });
      on.on('error', () => answer.destroy());
      asked.pipe(on);
    };
    async function startProxy(host: string, answering: RequestListener): Promise<string> {
      const proxy: Server = createServer(answering);
      proxy.listen(0, host);
      await once(proxy, 'listening');
      open.push(() => proxy.close());
      return `http://${host}:${(proxy.address() as AddressInfo).port}/`;
    }

    type Namespace = Awaited<ReturnType<typeof namespaceOf>>;
    /** A bouncer in a namespace, and what its kernel blocks. */
    async function startBouncer(space: Namespace, mode: 'ipset' | 'nftables', key: string, frequency = '500ms') {
      const sets = { blacklists_ipv4: 'weir4', blacklists_ipv6: 'weir6' };
      if (mode === 'ipset') {
        await space.within('ipset', 'create', 'weir4', 'hash:net', 'timeout', '300', 'maxelem', '131072');
        await space.within('ipset', 'create', 'weir6', 'hash:net', 'family', 'inet6', 'timeout', '300');
      }
      // JSON is YAML.
      const table = (name: string) => ({ enabled: true, 'set-only': false, table: name, chain: 'input' });
      const config = {
        mode,
        pid_dir: folder,
        update_frequency: frequency,
        daemonize: false,
        log_mode: 'stdout',
        log_level: 'info',
        api_url: space.url,
        api_key: key,
        deny_action: 'DROP',
        supported_decisions_types: ['ban'],
        ...sets,
        ipset_type: 'nethash',
        nftables: { ipv4: table('weir4t'), ipv6: table('weir6t') },
        prometheus: { enabled: false },
      };
      const file = join(folder, `${space.name}.yaml`);
      writeFileSync(file, JSON.stringify(config));
      const child: ChildProcess = spawn('ip', ['netns', 'exec', space.name, locate('crowdsec-firewall-bouncer')!, '-c', file]);
      let log = '';
      for (const output of [child.stdout!, child.stderr!]) output.setEncoding('utf8').on('data', (text: string) => (log += text));
      const stop = async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
      open.push(stop);
      const blocked = async (): Promise<string[]> => {
        if (mode === 'ipset') {
          const [v4, v6] = await Promise.all(['weir4', 'weir6'].map((set) => space.within('ipset', 'list', set)));
          return [v4, v6].flatMap(({ stdout }) => [...stdout.matchAll(/^(\S+) timeout \d+/gm)].map(([, member]) => member)).sort();
        }
        const [v4, v6] = await Promise.all(
          [
            ['ip', 'weir4t', 'weir4'],
            ['ip6', 'weir6t', 'weir6'],
          ].map((set) => space.within('nft', '-j', 'list', 'set', ...set)),
        );
        return [v4, v6].flatMap(({ stdout }) => elementsOf(stdout)).sort();
      };
      /** Seconds left of each IPv4 network in the kernel's ipset. */
      const timeouts = async () => {
        const { stdout } = await space.within('ipset', 'list', 'weir4');
        return new Map([...stdout.matchAll(/^(\S+) timeout (\d+)/gm)].map(([, member, seconds]) => [member, Number(seconds)]));
      };
      return { blocked, timeouts, stop, log: () => log };
    }
    type Bouncer = Awaited<ReturnType<typeof startBouncer>>;

    /**
     * An hour of a feed, whose clock moves by ten seconds with each poll: what the kernel lacked of what the feed had all the time. The kernel's
     * own clock is too slow to expire anything meanwhile: each network is announced with the second of the feed's clock at which it ends, so
     * that the timeout left in the kernel says which announcement it has. Runs beside the other tests.
     */
    async function hourOfFirewall() {
      const POLL_SECONDS = 10;
      const hour = new FeedHour(80);
      const announced = new Map<string, { readonly at: number; readonly ends: number }[]>();
      const missing: string[] = [];
      let finish: () => void;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      let bouncer: Bouncer | undefined;
      /** Networks that the kernel would have dropped by now. */
      const lacking = async () => {
        const [left, now] = [await bouncer!.timeouts(), performance.now() / 1000];
        const isBlocked = (value: string) => {
          // An announcement that took its time into the kernel has more time left there: the latest one that fits.
          const fits = ({ at, ends }: { at: number; ends: number }) => ends - (now - at) <= (left.get(value) ?? Number.NaN) + 3;
          const own = announced.get(value)!.findLast(fits);
          return own !== undefined && own.ends > hour.second;
        };
        return hour.stable.filter((value) => !isBlocked(value));
      };
      const space = await namespaceOf(7, async (asked, answer) => {
        const query = asked.url!.split('?')[1] ?? '';
        if (asked.method === 'GET' && !query.includes('startup=true')) {
          await hour.advance(POLL_SECONDS);
          // The answer before may still be on its way into the kernel.
          await eventually(async () => assert.deepEqual(await lacking(), []), UNTIL).catch(async () => missing.push(...(await lacking())));
        }
        if (hour.second >= 3600 || missing.length > 0) finish();
        const reply = await hour.replica.ask('stream', query, 'hour/1');
        reply.onSent();
        const at = performance.now() / 1000;
        const absolute = reply.stream.new.map((each) => ({ ...each, duration: `${hour.second + Math.ceil(secondsOf(each.duration))}s` }));
        for (const { value, duration } of absolute) {
          announced.set(value, [...(announced.get(value) ?? []), { at, ends: Number.parseInt(duration, 10) }]);
        }
        answer.setHeader('content-type', 'application/json').end(JSON.stringify({ ...reply.stream, new: absolute }));
      });
      bouncer = await startBouncer(space, 'ipset', 'any', '50ms');
      await finished;
      await bouncer.stop();
      return { seconds: hour.second, missing };
    }

    const rest = (bouncer: Pick<Bouncer, 'blocked' | 'log'>, expected: () => Promise<string[]>) =>
      eventually(async () => {
        const [held, wanted] = [new Set(await bouncer.blocked()), new Set(await expected())];
        const [missing, extra] = [wanted.difference(held), held.difference(wanted)].map((values) => [...values].slice(0, 5));
        assert.deepEqual({ missing, extra }, { missing: [], extra: [] }, bouncer.log().slice(-2000));
      }, UNTIL);

    test('D14.1, D14.3, D14.6 ipset mode: the sets of two bouncers on one key are the feed, whatever is cut off and starts anew', async () => {
      await send('networks', 'block', '203.0.113.1', '203.0.113.2', '198.51.100.0/24', '2001:db8::/32', 'DE');
      const key = await keyOf('--list', 'networks');
      const [one, two] = [await namespaceOf(2), await namespaceOf(3)];
      const [first, second] = [await startBouncer(one, 'ipset', key), await startBouncer(two, 'ipset', key)];
      const both = async (added: string[], removed: string[] = []) => {
        await shows('networks', added, removed);
        for (const bouncer of [first, second]) await rest(bouncer, () => feed('networks'));
      };
      await both(['203.0.113.1', '203.0.113.2', '198.51.100.0/24', '192.0.2.0/24']);
      // Merged with what is there, taken out of it, and the country gone.
      await send('networks', 'block', '203.0.113.3', '203.0.113.7');
      await send('networks', 'unblock', '203.0.113.1', 'DE');
      await both(['203.0.113.2/31', '203.0.113.7'], ['203.0.113.1', '192.0.2.0/24']);
      cut = 4;
      await send('networks', 'unblock', '198.51.100.0/24');
      await eventually(() => assert.equal(cut, 0), UNTIL);
      await send('networks', 'block', '198.51.100.0/25');
      await both(['198.51.100.0/25'], ['198.51.100.0/24']);
      // Unblocked right before weir is killed.
      await send('networks', 'unblock', '203.0.113.7');
      await send('networks', 'block', '203.0.113.9');
      await weir.kill('SIGKILL');
      weir = await startWeir(settings);
      await both(['203.0.113.9'], ['203.0.113.7']);
      // Until when the feed has an address, the kernel has it.
      const short = [{ type: 'access_rules', action: 'block', ip: '203.0.113.60', expiration: 60 }];
      await post('/v1/signal?list=networks', short);
      await landed();
      await both(['203.0.113.60']);
      const { stdout } = await one.within('ipset', 'list', 'weir4');
      const [, left] = /^203\.0\.113\.60 timeout (\d+)/m.exec(stdout)!;
      assert.ok(Number(left) <= 61, left);
    });

    test(`D14.10 nftables mode with single addresses: ${MANY} of them, address by address`, async () => {
      const bits = Math.log2(MANY);
      await send('hosts', 'block', `10.1.0.0/${32 - bits}`, `10.9.0.0/${33 - bits}`, '192.0.2.0/29', '2001:db8::/126', '10.32.0.0/12');
      const bouncer = await startBouncer(await namespaceOf(4), 'nftables', await keyOf('--list', 'hosts'));
      const span = (a: number, b: number, count: number) => Array.from({ length: count }, (_, n) => `${a}.${b}.${n >> 8}.${n & 0xff}`);
      const v6 = ['2001:db8::', '2001:db8::1', '2001:db8::2', '2001:db8::3'];
      const narrow = Array.from({ length: 8 }, (_, n) => `192.0.2.${n}`);
      await rest(bouncer, async () => [...span(10, 1, MANY), ...span(10, 9, MANY / 2), ...narrow, ...v6]);
      await send('hosts', 'unblock', `10.1.0.0/${32 - bits}`, '192.0.2.0/29');
      await send('hosts', 'block', '192.0.2.4/30');
      await rest(bouncer, async () => [...span(10, 9, MANY / 2), ...narrow.slice(4), ...v6]);
      await bouncer.stop();
    });

    /** A list whose feed has so many networks with prefixes from 25 to 32: each /24 lacks one of its addresses. */
    async function makeCutList(name: string, networks: number): Promise<void> {
      await makeList(name, '--subtract-allow', 'on');
      const slots = Array.from({ length: networks / 8 }, (_, n) => `10.${n >> 8}.${n & 0xff}`);
      await send(name, 'block', ...slots.map((slot) => `${slot}.0/24`));
      await allow(name, ...slots.map((slot, n) => `${slot}.${n % 256}`));
      await eventually(async () => assert.equal((await feed(name)).length, networks), UNTIL);
    }

    test(`D14.1 ipset mode: ${NETWORKS} networks, network by network`, async () => {
      await makeCutList('cut', NETWORKS);
      const bouncer = await startBouncer(await namespaceOf(5), 'ipset', await keyOf('--list', 'cut'));
      await rest(bouncer, () => feed('cut'));
      await send('cut', 'unblock', '10.0.0.0/24');
      await allow('cut', '10.0.1.77');
      await send('cut', 'block', '203.0.113.0/24');
      await shows('cut', ['203.0.113.0/24']);
      await rest(bouncer, () => feed('cut'));
      await bouncer.stop();
    });

    test('D31.3 ipset mode: the kernel holds the feed while networks move from list to list', async () => {
      for (const list of ['upper', 'lower']) await makeList(list);
      await commandText(['feed', 'create', 'moving', ...inWorkspace, '--lists', 'upper,lower', '--origins', 'lists'], settings);
      await send('upper', 'block', '192.0.2.1', '198.51.100.0/24');
      await send('lower', 'block', '192.0.2.1', '192.0.2.8/29', '198.51.100.0/24');
      const bouncer = await startBouncer(await namespaceOf(9), 'ipset', await keyOf('--feed', 'moving'));
      await rest(bouncer, () => feed('moving'));
      await send('upper', 'unblock', '192.0.2.1', '198.51.100.0/24');
      await send('upper', 'block', '192.0.2.8/29', '203.0.113.0/24');
      await shows('moving', ['203.0.113.0/24', '192.0.2.1']);
      await rest(bouncer, () => feed('moving'));
      await bouncer.stop();
    });

    test(`D5.3 the nftables feed without a bouncer: ${LOADED} networks in the kernel, network by network`, async () => {
      await makeCutList('loaded', LOADED);
      const { text } = await getFeed(weir.url, KEY, '/loaded?format=set_elements&family=v4');
      writeFileSync(join(folder, 'v4.elements'), text);
      const set = (more = '') => `table inet weir {\nset block4 {\ntype ipv4_addr; flags interval\n${more}\n}\n}\n`;
      writeFileSync(join(folder, 'load.nft'), `${set()}flush set inet weir block4\n${set(`include "${join(folder, 'v4.elements')}"`)}`);
      const space = await namespaceOf(6);
      await space.within('nft', '-f', join(folder, 'load.nft'));
      const { stdout } = await space.within('nft', '-j', 'list', 'set', 'inet', 'weir', 'block4');
      assert.deepEqual(elementsOf(stdout).sort(), (await feed('loaded')).sort());
    });

    test('D31.7 the nftables feed without a bouncer: what each list has stopped, each packet once, also when the set is filled anew', async () => {
      const space = await namespaceOf(10);
      const here = new URL(space.url).hostname;
      const there = here.replace(/\d+$/, (last) => String(Number(last) + 1));
      for (const list of ['near', 'far']) await makeList(list);
      await commandText(['feed', 'create', 'stopped', ...inWorkspace, '--lists', 'near,far', '--origins', 'lists'], settings);
      await send('near', 'block', here);
      await send('far', 'block', here, '198.51.100.0/24');
      const [elements, table, load, state, listing] = ['v4', 'table.nft', 'load.nft', 'hits.json', 'listing.json'].map((name) =>
        join(folder, `hits-${name}`),
      );
      writeFileSync(elements!, (await getFeed(weir.url, KEY, '/stopped?format=set_elements&family=v4')).text);
      const set = (more = '') => `set block4 {\ntype ipv4_addr; flags interval; counter\n${more}\n}\n`;
      const chain = 'chain input { type filter hook input priority -10; policy accept; ip saddr @block4 drop; }\n';
      writeFileSync(table!, `table inet weir {\n${set()}${chain}}\n`);
      writeFileSync(load!, `flush set inet weir block4\ntable inet weir {\n${set(`include "${elements}"`)}}\n`);
      await space.within('nft', '-f', table!);
      await space.within('nft', '-f', load!);
      const socket = createSocket('udp4');
      const sendPackets = async (count: number) => {
        for (let n = 0; n < count; n++) await new Promise((sent) => socket.send('x', 9, there, sent));
      };
      const key = await keyOf('--feed', 'stopped');
      const imported = async () => {
        writeFileSync(listing!, (await space.within('nft', '-j', 'list', 'set', 'inet', 'weir', 'block4')).stdout);
        return commandJson<unknown>(['hits', 'import', listing!, '--url', weir.url, '--key', key, '--state', state!], settings);
      };
      await sendPackets(3);
      assert.deepEqual(await imported(), [{ origin: 'lists:near', packets: 3, bytes: 3 * 29 }]);
      await space.within('nft', '-f', load!);
      await sendPackets(2);
      assert.deepEqual(await imported(), [{ origin: 'lists:near', packets: 2, bytes: 2 * 29 }]);
      socket.close();
      // What may not have arrived is sent again as it was.
      const [report] = usageReports(new Map([['lists:far', { packets: 4, bytes: 0 }]]), { name: 'gw', version: '1', at: 7, window: 60 });
      const unsent = JSON.stringify({ ...JSON.parse(readFileSync(state!, 'utf8')), unsent: [report] });
      for (let n = 0; n < 2; n++) {
        writeFileSync(state!, unsent);
        assert.deepEqual(await imported(), []);
      }
      const { lists } = await commandJson<{ lists: { name: string; hits: number; hit_bytes: number }[] }>(
        ['worth', ...inWorkspace],
        settings,
      );
      const told = lists.filter(({ name }) => ['near', 'far'].includes(name)).map((list) => [list.name, list.hits, list.hit_bytes]);
      assert.deepEqual(told.sort(), [
        ['far', 4, 0],
        ['near', 5, 5 * 29],
      ]);
    });

    test('D14.5 an hour on the clock of the feed: the kernel lacks nothing that the feed has, whatever is renewed and however much changes', async () => {
      const { seconds, missing } = await anHour;
      assert.deepEqual({ seconds: seconds >= 3600, missing }, { seconds: true, missing: [] });
    });

    test('D14.5 an expiry to its end in the kernel: with a bouncer that pulls, and with one that does so no more', async () => {
      const { pulling, stopped } = lapsing;
      await eventually(async () => assert.ok(!(await feed('lapsing')).includes('203.0.113.60/31')), 60_000 + UNTIL);
      // What was renewed meanwhile is told again.
      await rest(pulling, () => feed('lapsing'));
      assert.deepEqual(await pulling.blocked(), ['198.51.100.0/25', '203.0.113.61', '203.0.113.70']);
      // The kernel lets all go that was told with that end.
      await rest(stopped, async () => ['198.51.100.0/25']);
    });
  });

  test('D14.1, D14.8, D14.12, D31.3, D31.4, D31.6 the client library: stream, look-up, usage metrics; counts by list come back while networks move', {
    skip: noLibrary,
  }, async (t) => {
    const program = await library!;
    for (const list of ['library', 'second']) await makeList(list);
    await send('library', 'block', '192.0.2.1', '198.51.100.0/24');
    await send('second', 'block', '192.0.2.1');
    await commandText(['feed', 'create', 'counted', ...inWorkspace, '--lists', 'library,second', '--origins', 'lists'], settings);
    const key = await keyOf('--feed', 'counted');
    const child = spawn(program, [weir.url, key, '198.51.100.9']);
    t.after(() => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const lines = () =>
      output
        .split('\n')
        .filter((line) => line.startsWith('{') || line.startsWith('['))
        .map((line) => JSON.parse(line));
    const [held, everything] = await eventually(() => {
      const found = lines();
      assert.ok(found.length >= 2, output);
      return found;
    }, UNTIL);
    assert.equal(held[0].value, '198.51.100.0/24');
    assert.deepEqual(values(everything.new), ['192.0.2.1', '198.51.100.0/24']);
    await send('library', 'unblock', '192.0.2.1');
    // What a line tells of the address: of which lists it is gone, and of which it is.
    const moved = ({ deleted, new: fresh }: Record<'deleted' | 'new', Decision[]>) =>
      [deleted, fresh].map((each) => each.filter(({ value }) => value === '192.0.2.1').map(({ scenario }) => scenario));
    await eventually(() => assert.deepEqual(moved(lines().at(-1)), [['library'], ['second']], output), UNTIL);
    const hits = async () => {
      const { lists, dropped } = await commandJson<{ lists: { name: string; hits: number }[]; dropped: { of_no_list: number } }>(
        ['worth', ...inWorkspace],
        settings,
      );
      const of = (name: string) => lists.find((list) => list.name === name)?.hits;
      return [of('library'), of('second'), dropped.of_no_list];
    };
    await eventually(async () => assert.deepEqual(await hits(), [2, 1, 0]), UNTIL);
    assert.match(
      await commandText(['lookup', '198.51.100.9', ...inWorkspace], settings),
      /as reported by bouncers: .*library 2 \(the last on \d/,
    );
    assert.match(await commandText(['worth', ...inWorkspace], settings), /as reported by bouncers: \d+, 0 of them for no list/);
    await weir.kill('SIGTERM');
    const rows = await commandJson<Record<string, unknown>[]>(['bouncer', 'ls', ...inWorkspace], settings);
    const metrics = rows.find(({ user_agent: name }) => name === 'library/v0.0.21')?.usage_metrics as { remediation_components: object[] };
    assert.equal((metrics.remediation_components[0] as { type: string }).type, 'library');
    weir = await startWeir(settings);
  });
});

const targetOf = (target: string) => (/^[A-Z]{2}$/.test(target) ? { country: target } : { ip: target });

/** The elements of a set as `nft -j` lists it. */
function elementsOf(listing: string): string[] {
  type Element =
    | string
    | { readonly elem: { readonly val: string } }
    | { readonly prefix: { readonly addr: string; readonly len: number } };
  const { nftables } = JSON.parse(listing) as { nftables: { set?: { elem?: Element[] } }[] };
  const elements = nftables.flatMap(({ set }) => set?.elem ?? []);
  return elements.map((element) => {
    if (typeof element === 'string') return element;
    return 'elem' in element ? element.elem.val : `${element.prefix.addr}/${element.prefix.len}`;
  });
}
