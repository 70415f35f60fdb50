/** Feeds as real programs fetch and use them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/folder.ts';
import { needs } from '../support/programs.ts';
import { seededRandom } from '../support/random.ts';
import { mixedV4, mixedV6, networkText } from '../support/random-networks.ts';
import { rangeOf, slowCoalesce } from '../support/slow-networks.ts';
import { eventually } from '../support/weir.ts';
import { type Client, startWorld, type World } from '../support/world.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(cwd: string, program: string, ...args: string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await promisify(execFile)(program, args, { cwd, maxBuffer: 1 << 26 })) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');
const blocks = (ips: readonly string[]) => ips.map((ip) => ({ type: 'access_rules', action: 'block', ip }));

suite('real clients', { timeout: 600_000 }, () => {
  let world: World;
  let client: Client;
  const cleanup: (() => void)[] = [];
  let folders = 0;
  const root = temporaryFolder({ after: (work) => cleanup.push(work) });
  const folder = () => {
    folders += 1;
    const made = join(root, `client-${folders}`);
    mkdirSync(made);
    return made;
  };
  const url = (target = '') => `${world.weir().url}/v1/threat/feeds${target}`;

  before(async () => {
    world = await startWorld({ DATA_DIR: join(root, 'data') });
  });
  after(async () => {
    await world?.stop();
    for (const work of cleanup) work();
  });

  /** A workspace that blocks these. */
  async function blocking(ips: readonly string[]): Promise<Client> {
    client = await world.client();
    await block(ips);
    return client;
  }
  async function block(ips: readonly string[]): Promise<void> {
    for (let at = 0; at < ips.length; at += 1000) {
      const { status, body } = await client.post('/v1/signal', blocks(ips.slice(at, at + 1000)));
      assert.equal(status, 200, JSON.stringify(body.errors));
    }
    await world.landed();
  }

  test('4.3.7 curl --etag-save and --etag-compare: 304 and nothing written while the feed is unchanged', {
    skip: needs('curl'),
  }, async () => {
    const { key, feed } = await blocking(['192.0.2.1']);
    const cwd = folder();
    for (const [coding, target] of [
      ['--compressed', ''],
      ['--no-compressed', '?format=csv_indicator'],
    ] as const) {
      const poll = async () => {
        const etags = ['--etag-compare', 'feed.etag', '--etag-save', 'feed.etag.new'];
        const { code, stdout, stderr } = await run(
          cwd,
          ...([
            'curl',
            '-sS',
            coding,
            '-u',
            `api:${key}`,
            ...etags,
            '-o',
            'feed.new',
            '-w',
            '%{http_code} %{size_download}',
            url(target),
          ] as const),
        );
        assert.equal(code, 0, stderr);
        if (stdout.startsWith('200')) writeFileSync(join(cwd, 'feed.etag'), read(cwd, 'feed.etag.new'));
        return stdout;
      };
      writeFileSync(join(cwd, 'feed.etag'), '');
      assert.match(await poll(), /^200 [1-9]/);
      const first = read(cwd, 'feed.new');
      assert.equal(first, await feed(target));
      for (let i = 0; i < 2; i += 1) assert.equal(await poll(), '304 0');
      await block([`192.0.2.${first.length}`]);
      await eventually(async () => assert.match(await poll(), /^200 /));
      assert.notEqual(read(cwd, 'feed.new'), first);
      assert.equal(read(cwd, 'feed.new'), await feed(target));
      assert.equal(await poll(), '304 0');
    }
  });

  test('4.3.8 curl --compressed, and gzip -d, give the same bytes as no compression', { skip: needs('curl', 'gzip') }, async () => {
    const { key, feed } = await blocking(networkText(mixedV4, seededRandom(1), 2000).trim().split('\n'));
    const cwd = folder();
    const auth = ['-sS', '-H', `Authorization: Bearer ${key}`];
    const plain = await run(cwd, 'curl', ...auth, '-D', 'plain.headers', '-o', 'plain', url());
    const compressed = await run(cwd, 'curl', ...auth, '--compressed', '-D', 'compressed.headers', '-o', 'compressed', url());
    const raw = await run(cwd, 'curl', ...auth, '-H', 'Accept-Encoding: gzip', '-o', 'feed.gz', url());
    assert.deepEqual([plain.code, compressed.code, raw.code], [0, 0, 0]);
    assert.equal((await run(cwd, 'gzip', '-d', 'feed.gz')).code, 0);
    const text = await feed();
    for (const name of ['plain', 'compressed', 'feed']) assert.equal(read(cwd, name), text, name);
    assert.match(read(cwd, 'compressed.headers'), /^content-encoding: gzip\r$/im);
    assert.doesNotMatch(read(cwd, 'plain.headers'), /content-encoding|chunked/i);
  });

  test('4.3.9 md5sum of what curl fetched is what checksum=md5 says, in every format', { skip: needs('curl', 'md5sum') }, async () => {
    const { key } = await blocking(['192.0.2.1', '192.0.2.8/29', '2001:db8::/32']);
    const cwd = folder();
    for (const query of ['', 'format=commented&', 'format=csv_indicator&', 'format=set_elements&family=v6&', 'action=allow&']) {
      const auth = ['-sS', '-u', `api:${key}`];
      await run(cwd, 'curl', ...auth, '-o', 'feed', url(`?${query}`));
      const { stdout: digest } = await run(cwd, 'curl', ...auth, '--compressed', url(`?${query}checksum=md5`));
      writeFileSync(join(cwd, 'feed.md5'), `${digest}  feed\n`);
      assert.match(digest, /^[0-9a-f]{32}$/);
      assert.equal((await run(cwd, 'md5sum', '--strict', '-c', 'feed.md5')).stdout, 'feed: OK\n', query);
    }
  });

  test('4.3.7, 5, D2 wget -N waits for the challenge, and fetches only what is newer', { skip: needs('wget') }, async () => {
    const { key } = await blocking(['192.0.2.1']);
    const cwd = folder();
    const fetchNewer = () => run(cwd, 'wget', '-N', '-S', '--no-netrc', '--user', 'api', '--password', key, url('/default'));
    const first = await fetchNewer();
    assert.equal(first.code, 0, first.stderr);
    assert.deepEqual(first.stderr.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401', 'HTTP/1.1 200']);
    assert.equal(read(cwd, 'default'), '192.0.2.1/32\n');
    const second = await fetchNewer();
    assert.match(second.stderr, /HTTP\/1\.1 304 Not Modified/);
    assert.equal(second.code, 0);
    await sleep(1000);
    await block(['192.0.2.9']);
    await eventually(async () => {
      assert.equal((await fetchNewer()).code, 0);
      assert.equal(read(cwd, 'default'), '192.0.2.1/32\n192.0.2.9/32\n');
    });
    assert.match((await fetchNewer()).stderr, /HTTP\/1\.1 304 Not Modified/);
  });

  test('D5.2 curl -I, as Juniper polls: every header of GET', { skip: needs('curl') }, async () => {
    const { key } = await blocking(['192.0.2.1']);
    const cwd = folder();
    const auth = ['-sS', '-u', `api:${key}`];
    const { stdout: head } = await run(cwd, 'curl', ...auth, '-I', url());
    await run(cwd, 'curl', ...auth, '-D', 'headers', '-o', 'feed', url());
    const lines = (text: string) => text.split('\r\n').filter((line) => !/^date:/i.test(line));
    assert.deepEqual(lines(head), lines(read(cwd, 'headers')));
    assert.match(head, /^content-length: 13\r$/im);
  });

  test('4.5 plain is what iprange makes of the rules’ networks', { skip: needs('curl', 'iprange') }, async () => {
    const text = networkText(mixedV4, seededRandom(5), 3000);
    const { key } = await blocking(text.trim().split('\n'));
    const cwd = folder();
    await run(cwd, 'curl', '-sS', '-u', `api:${key}`, '-o', 'feed', url('?family=v4'));
    writeFileSync(join(cwd, 'rules'), text);
    const bareHosts = read(cwd, 'feed').replaceAll('/32\n', '\n');
    assert.equal((await run(cwd, 'iprange', '--optimize', 'rules')).stdout, bareHosts);
    assert.equal((await run(cwd, 'iprange', 'feed')).stdout, bareHosts);
    assert.equal((await run(cwd, 'iprange', '--diff', 'rules', 'feed')).stdout, '');
  });

  test('4.5, D5.3, 4.6.2 nft loads set_elements of each family, empties a set by an empty feed, refuses a 413 and keeps the set', {
    skip: needs('curl', 'nft', 'unshare'),
  }, async () => {
    const random = seededRandom(9);
    const ends = ['0.0.0.1', '255.255.255.255', '192.0.2.0/31', '192.0.2.2', '::1', 'ffff:ffff::/32', '2001:db8::1'];
    const networks = [mixedV4, mixedV6].flatMap((source) => networkText(source, random, 1000).trim().split('\n'));
    const { key, workspace } = await blocking([...ends, ...networks]);
    await world.text(['list', 'create', 'small', '--workspace', workspace, '--max-entries', '1']);
    await client.post('/v1/signal?list=small', blocks(['192.0.2.1', '192.0.2.9']));
    await world.landed();
    const cwd = folder();
    const curl = (name: string, target: string) =>
      run(cwd, 'curl', '-sS', '-u', `api:${key}`, '-w', '%{http_code}', '-o', name, url(target));
    for (const family of ['v4', 'v6']) {
      assert.equal((await curl(`full.${family}`, `?format=set_elements&family=${family}`)).stdout, '200');
      assert.equal((await curl(`empty.${family}`, `?format=set_elements&action=allow&family=${family}`)).stdout, '200');
      await curl(`plain.${family}`, `?family=${family}`);
    }
    assert.equal((await curl('refused.v4', '/small?format=set_elements&family=v4')).stdout, '413');
    writeFileSync(join(cwd, 'refused.v6'), '');
    writeFileSync(join(cwd, 'script'), NFT);
    const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
    const { code, stderr } = await run(cwd, 'unshare', ...user, '--net', 'sh', '-eu', 'script');
    assert.equal(code, 0, stderr);
    for (const [family, bits] of [
      ['v4', 4],
      ['v6', 6],
    ] as const) {
      const feed = read(cwd, `plain.${family}`).trim().split('\n');
      assert.ok(feed.length > 500);
      for (const step of ['full', 'refused']) assert.deepEqual(slowCoalesce(bits, setOf(cwd, step, family)), feed, step);
      assert.deepEqual(setOf(cwd, 'empty', family), []);
    }
  });
});

/** Loads what was fetched, as an operator's script does: both families in one transaction. */
const NFT = `
nft -f - <<'END'
table inet weir {
  set v4 { type ipv4_addr; flags interval; }
  set v6 { type ipv6_addr; flags interval; }
}
END
load() {
  nft -f - <<END
flush set inet weir v4
flush set inet weir v6
table inet weir {
  set v4 {
    type ipv4_addr; flags interval
    include "$PWD/$1.v4"
  }
  set v6 {
    type ipv6_addr; flags interval
    include "$PWD/$1.v6"
  }
}
END
}
show() { nft -j list table inet weir > "$1.json"; }
load full; show full
if load refused; then exit 9; fi; show refused
load empty; show empty
`;

type NftElement =
  | string
  | { readonly prefix: { readonly addr: string; readonly len: number } }
  | { readonly range: readonly [string, string] };

/** The ranges in a set, as nft shows it after a step. */
function setOf(folder: string, step: string, name: string) {
  const { nftables } = JSON.parse(read(folder, `${step}.json`)) as { nftables: { set?: { name: string; elem?: NftElement[] } }[] };
  const elements = nftables.find(({ set }) => set?.name === name)!.set!.elem ?? [];
  return elements.map((element) => {
    if (typeof element === 'string') return rangeOf(element);
    if ('prefix' in element) return rangeOf(`${element.prefix.addr}/${element.prefix.len}`);
    const [first, last] = element.range;
    return { start: rangeOf(first).start, end: rangeOf(last).end };
  });
}
