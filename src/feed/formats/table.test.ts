import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEVEL_CLASSES } from '../levels.ts';
import { exampleBody } from './example.ts';
import type { FeedHeading, FeedNetworks } from './format.ts';
import { contentHash, stampText } from './stamp.ts';
import { FORMAT_ALIASES, FORMAT_NAMES, FORMATS, formatOf } from './table.ts';
import { comment, textFormat } from './text.ts';

const NO_NETWORKS = { classes: [], count: 0 };
const HEADING = { name: 'n', description: null, action: 'block', family: 'both' } as const;

test('4.3.6, 4.5, D5.1 the formats of the specification, their types and aliases, by exact name', () => {
  const types = FORMAT_NAMES.map((name) => [name, FORMATS[name].mediaType]);
  assert.deepEqual(types.slice(0, 4), [
    ['plain', 'text/plain'],
    ['commented', 'text/plain'],
    ['csv_indicator', 'text/csv'],
    ['set_elements', 'text/plain'],
  ]);
  for (const alias of ['txt', 'paloalto', 'panos', 'fortigate', 'fortinet']) assert.equal(formatOf(alias), 'plain');
  for (const name of ['', 'PLAIN', 'constructor', '__proto__']) assert.equal(formatOf(name), undefined);
});

test('4.5 a name or alias belongs to one format only', () => {
  for (const name of FORMAT_NAMES) assert.equal(formatOf(name), name);
  const aliases = FORMAT_NAMES.flatMap((name) => FORMATS[name].aliases);
  assert.deepEqual([...FORMAT_ALIASES.keys()], aliases);
  for (const alias of aliases) assert.ok(!Object.hasOwn(FORMATS, alias), alias);
});

test('D5 an empty feed can be handed to another thread any number of times', () => {
  for (const format of FORMAT_NAMES) {
    for (const time of [1, 2]) {
      const { bytes } = FORMATS[format].render(NO_NETWORKS, HEADING);
      const text = Buffer.from(bytes).toString();
      assert.equal(Buffer.from(structuredClone(bytes, { transfer: [bytes.buffer] })).toString(), text, `${format}, time ${time}`);
      assert.equal(text.endsWith('# entries: 0\n'), format === 'commented');
    }
  }
});

test('4.5 a rated format shows the networks of every class', () => {
  const v6 = { length: 0, words: new Uint32Array(), prefixes: new Uint8Array() };
  const host = (address: number) => ({ length: 1, addresses: Uint32Array.of(address), prefixes: Uint8Array.of(32) });
  const [low, high] = [0, LEVEL_CLASSES.length - 1];
  for (const name of FORMAT_NAMES.filter((each) => FORMATS[each].rated)) {
    const classes = [
      { index: low, v4: host(0xc0000201), v6 },
      { index: high, v4: host(0xc0000202), v6 },
    ];
    const text = Buffer.from(FORMATS[name].render({ classes, count: 2 }, HEADING).bytes).toString();
    for (const part of ['192.0.2.1', '192.0.2.2', 'low', 'critical']) assert.ok(text.includes(part), `${name}: ${text}`);
  }
});

test('4.5 examples are what the renderers write', () => {
  const second = Date.UTC(2026, 10, 20, 10) / 1000;
  assert.equal(exampleBody(FORMATS.plain, second), '198.51.100.0/24\n203.0.113.7/32\n2001:db8::/32\n');
  assert.match(exampleBody(FORMATS.commented, second), /^# generated: 2026-11-20T10:00:00Z\n# entries: 3\n198\.51\.100\.0\/24\n/m);
  assert.match(exampleBody(FORMATS.csv_indicator, second), /^203\.0\.113\.7,IP,high,high$/m);
});

test('D5.5 the instant stands where the header says, whatever stands before it, and does not count for the content', () => {
  const render = textFormat({
    header: ({ name }, count) => ({ before: `${comment(name)}\n`, after: ` ${count}\n` }),
    head: '',
    separator: ' ',
    tail: '\n',
  });
  // A name that looks like the place that is kept for the instant.
  const heading = { ...HEADING, name: 'é 0000-00-00T00:00:00Z' };
  const [one, other] = [render(NO_NETWORKS, heading), render(NO_NETWORKS, heading)];
  stampText(one, 0);
  stampText(other, 1);
  assert.equal(Buffer.from(one.bytes).toString(), '# é 0000-00-00T00:00:00Z\n1970-01-01T00:00:00Z 0\n');
  assert.equal(Buffer.from(other.bytes).toString(), '# é 0000-00-00T00:00:00Z\n1970-01-01T00:00:01Z 0\n');
  assert.equal(contentHash(one), contentHash(other));
});

test('D58.1 D58.2 mikrotik: a script that leaves a complete list whenever it ends, with every text escaped', () => {
  const name = 'édge"; /system/reset $x\\\n[/quit] # }';
  const lines = (heading: Partial<FeedHeading> = {}, networks: FeedNetworks = NO_NETWORKS) =>
    Buffer.from(FORMATS.mikrotik.render(networks, { ...HEADING, ...heading }).bytes)
      .toString()
      .trimEnd()
      .split('\n');
  const hostile = lines({ name });
  const text = String.raw`"weir:block:\C3\A9dge\22\3B \2Fsystem\2Freset \24x\5C\0A\5B\2Fquit\5D \23 \7D:b"`;
  assert.ok(hostile.includes(`:global weirNew ${text}`), hostile.join('\n'));
  assert.ok(hostile.every((line) => /^(#|:global|:if|\/ip)/.test(line) && /^[\x20-\x7e]*$/.test(line)));
  assert.deepEqual(
    lines({ family: 'v6' }).filter((line) => line.startsWith('/ip/')),
    [],
  );

  // A router that knows find, add, set and remove, cut off after each line.
  type Entry = { address: string; list: string; comment: string };
  const run = (script: readonly string[], entries: readonly Entry[]): Entry[] => {
    let now = entries.map((entry) => ({ ...entry }));
    let [old, fresh] = ['', ''];
    for (const line of script) {
      const [, list] = /list="weir:block:n:(.)" comment=whole/.exec(line) ?? [];
      if (line.startsWith(':global weirOld')) old = 'a';
      else if (line.startsWith(':global weirNew')) fresh = 'b';
      else if (line.startsWith(':if') && now.some((entry) => entry.list === list && entry.comment === 'whole')) [old, fresh] = ['b', 'a'];
      else if (line.includes('/add ')) {
        const [, address, comment = ''] = /address=(\S+)(?: comment=(\w+))?$/.exec(line)!;
        assert.ok(!now.some((entry) => entry.list === fresh && entry.address === address), 'RouterOS refuses a second one');
        now.push({ list: fresh, address: address!, comment });
      } else if (line.includes('/set ')) for (const entry of now) entry.comment = entry.list === old ? '' : entry.comment;
      else if (line.endsWith('list=$weirNew]')) now = now.filter((entry) => entry.list !== fresh);
      else if (line.endsWith('list=$weirOld]')) now = now.filter((entry) => entry.list !== old);
    }
    return now;
  };
  const networksOf = (hosts: readonly number[]): FeedNetworks => {
    const v4 = { length: hosts.length, addresses: Uint32Array.from(hosts), prefixes: new Uint8Array(hosts.length).fill(32) };
    const v6 = { length: 0, words: new Uint32Array(), prefixes: new Uint8Array() };
    return { classes: [{ index: 0, v4, v6 }], count: hosts.length };
  };
  const scriptOf = (hosts: readonly number[]) => lines({ family: 'v4' }, networksOf(hosts));
  const has = (entries: readonly Entry[], hosts: readonly number[]) =>
    hosts.every((host) => entries.some(({ address }) => address === `0.0.0.${host}/32`));
  const [before, after] = [scriptOf([1, 2, 3]), scriptOf([2, 4])];
  const full = run(before, []);
  for (let cut = 0; cut <= after.length; cut++) {
    const half = run(after.slice(0, cut), full);
    assert.ok(has(half, [1, 2, 3]) || has(half, [2, 4]), `cut after line ${cut}`);
    for (let again = 0; again <= after.length; again++) {
      const twice = run(after.slice(0, again), half);
      assert.ok(has(twice, [1, 2, 3]) || has(twice, [2, 4]), `cut after line ${cut}, then ${again}`);
    }
    assert.deepEqual(
      run(after, half)
        .map(({ address }) => address)
        .sort(),
      ['0.0.0.2/32', '0.0.0.4/32'],
    );
  }
  assert.deepEqual(run(scriptOf([]), full), []);
});
