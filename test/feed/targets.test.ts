/** Feeds for kinds of devices, and feeds of single addresses. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { servedAs, TARGET_NAMES, TARGETS } from '../../src/account/target.ts';
import { FORMATS } from '../../src/feed/formats/table.ts';
import { command } from '../support/command.ts';
import { ManualClock, MemoryStore, Replica } from '../support/feed-world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { seededRandom } from '../support/random.ts';

function world() {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('edge');
  const replica = new Replica(clock, store, {});
  /** The feed once a change shows. */
  const get = async (path: string) => {
    await clock.advance(31_000);
    return replica.get(path);
  };
  return { store, list, get };
}

describe('D25 targets', () => {
  test('D25.1 each row says where its number is from and when it was read, and has a page', () => {
    for (const [name, { source, readAt, page, format, hostStyle, beyond, empty }] of Object.entries(TARGETS)) {
      assert.ok(source && beyond && empty, name);
      assert.match(readAt, /^20\d\d-\d\d-\d\d$/);
      assert.ok(existsSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url))), page);
      assert.ok(format in FORMATS && (hostStyle === 'cidr' || FORMATS[format as 'plain'].mayBeBare), name);
    }
  });

  test('D25.1 a target gives what the feed does not say; what it says stays', async () => {
    assert.deepEqual(
      TARGET_NAMES.map((target) => servedAs({ ...NO_SETTINGS, target }).maxEntries),
      TARGET_NAMES.map((target) => TARGETS[target]!.maxEntries),
    );
    const { store, list, get } = world();
    store.setList(list, { target: 'check-point-ioc' });
    store.add(list, '192.0.2.1');
    store.add(list, '2001:db8::1');
    const reply = await get('/edge');
    assert.deepEqual([reply.body, reply.headers['x-feed-entry-limit']], ['192.0.2.1,IP,high,high\n', '2000000']);
    store.setList(list, { target: 'pan-os', family: 'v6', maxEntries: 7 });
    const own = await get('/edge');
    assert.deepEqual([own.body, own.headers['x-feed-entry-limit']], ['2001:db8::1/128\n', '7']);
  });

  test('D25.2 where no number is known a command says so, and asks for one', async (t) => {
    const settings = { DATA_DIR: temporaryFolder(t) };
    await command(['org', 'create', 'acme'], settings);
    await command(['workspace', 'create', 'main', '--org', 'acme'], settings);
    const create = (...args: string[]) => command(['feed', 'create', ...args, '--workspace', 'main', '--all-lists'], settings);
    assert.match(
      (await create('a', '--target', 'sophos')).stdout,
      /not documented by the vendor.* Until --max-entries is set its cap is 131072 entries\n$/,
    );
    assert.doesNotMatch((await create('b', '--target', 'sophos', '--max-entries', '9')).stdout, /vendor/);
    assert.doesNotMatch((await create('c', '--target', 'pan-os')).stdout, /vendor/);
    assert.match((await create('d', '--target', 'pa')).stderr, /--target .*pan-os/);
    const { stdout } = await command(['target', 'ls'], settings);
    for (const name of TARGET_NAMES) assert.ok(stdout.includes(`\n${name} `), name);
  });

  test('D25.3 bare: addresses alone, wider networks address by address, in plain and commented only', async () => {
    const { store, list, get } = world();
    store.setList(list, { hostStyle: 'bare' });
    for (const target of ['192.0.2.6', '192.0.2.4/31', '2001:db8::fffe/127', '10.0.0.255', '10.0.1.0']) store.add(list, target);
    const hosts = '10.0.0.255\n10.0.1.0\n192.0.2.4\n192.0.2.5\n192.0.2.6\n2001:db8::fffe\n2001:db8::ffff\n';
    const plain = await get('/edge');
    assert.deepEqual([plain.body, plain.headers['x-feed-entry-count']], [hosts, '7']);
    assert.match((await get('/edge?format=commented')).body, new RegExp(`^(#.*\\n){5}# entries: 7\\n${hosts.replaceAll('.', '\\.')}$`));
    assert.equal(
      (await get('/edge?format=set_elements&family=v4')).body,
      'elements = { 10.0.0.255/32, 10.0.1.0/32, 192.0.2.4/31, 192.0.2.6/32 }\n',
    );
    // Of the workspace's feed nobody has said so.
    assert.equal((await get('')).body.split('\n')[0], '10.0.0.255/32');
    store.setList(list, { hostStyle: 'cidr' });
    assert.equal((await get('/edge')).body.split('\n')[0], '10.0.0.255/32');
  });

  test('D25.3 bare: more addresses than the cap are a 413 that names the widest network and what helps', async () => {
    const { store, list, get } = world();
    store.setList(list, { hostStyle: 'bare', maxEntries: 256 });
    store.add(list, '192.0.2.0/24');
    assert.equal((await get('/edge')).body.split('\n').length, 257);
    store.add(list, '2001:db8::/64');
    const reply = await get('/edge');
    assert.equal(reply.status, 413);
    assert.match(
      String((reply.fault!.details as { hint: string }).hint),
      /The widest network is 2001:db8::\/64, 18446744073709551616 addresses\..* set host_style to cidr/,
    );
    assert.equal((await get('/edge?family=v4')).status, 200);
    // One rule stands for four million addresses: nobody may have that many of each of his feeds.
    store.setList(list, { hostStyle: 'bare', family: 'v4', maxEntries: 4_000_000 });
    store.add(list, '10.0.0.0/12');
    const wide = await get('/edge');
    const { entries, limit } = wide.fault!.details as { entries: number; limit: number };
    assert.deepEqual([wide.status, entries, limit], [413, 1_048_832, 131_072]);
    assert.equal((await get('/edge?format=set_elements')).headers['x-feed-entry-limit'], '4000000');
  });

  test('D25.3 bare: random changes are written as a set of addresses would be', async () => {
    const { store, list, get } = world();
    const random = seededRandom(7);
    store.setList(list, { hostStyle: 'bare', family: 'v4' });
    const held = new Set<number>();
    for (let round = 0; round < 30; round++) {
      const prefix = 26 + random.below(7);
      const size = 2 ** (32 - prefix);
      const first = random.below(4096 / size) * size;
      store.add(list, `192.0.${(first >> 8) & 255}.${first & 255}/${prefix}`);
      for (let k = 0; k < size; k++) held.add(first + k);
      const expected = [...held].sort((a, b) => a - b).map((n) => `192.0.${n >> 8}.${n & 255}\n`);
      assert.equal((await get('/edge')).body, expected.join(''));
    }
  });
});
