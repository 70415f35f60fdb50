import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { formatNetwork } from '@weir/network/format.ts';
import { entrySignals, type Reading, readContent } from './content.ts';
import type { ListDefaults } from './entry.ts';
import type { Form } from './form.ts';
import { readCondition, readPath } from './paths.ts';
import { extractTargets } from './report.ts';

const NONE: ListDefaults = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} };

async function* chunksOf(content: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

interface Given extends Omit<Partial<Reading>, 'file'> {
  readonly file?: string;
  readonly format?: Form;
  readonly defaults?: Partial<ListDefaults>;
  /** Bytes that are read at a time. */
  readonly size?: number;
}

/** What is sent for a file: each signal, or what is wrong, behind its place. */
async function sent(
  content: string | Buffer,
  { file = '-', format, defaults, size = 1 << 16, ...reading }: Given = {},
): Promise<[string, unknown][]> {
  const read = await readContent(chunksOf(content, size), { file, format, ...reading }, { ...NONE, ...defaults });
  assert.ok('entries' in read, 'the file is a list');
  const all = await Array.fromAsync(entrySignals(read.entries, () => {}));
  return all.map((each) => [each.place!, 'fault' in each ? each.fault : JSON.parse(each.json.toString())]);
}

const block = (target: object, more: object = {}) => ({ kind: 'access_rule', op: 'upsert', ...more, rule: { target, action: 'block' } });

const LISTS: Record<string, Given & { content: string; lines?: readonly number[] }> = {
  text: { content: '192.0.2.1\n2001:db8::/32\nAS64500\nNL\n' },
  'text with comments, blank lines, more columns, CRLF and a byte order mark': {
    content: '\uFEFF; Spamhaus\r\n# a comment\r\n\r\n192.0.2.1 ; SBL1\r\n 2001:db8::/32\t# x\r\nAS64500,3\r\nNL|Netherlands',
    lines: [4, 5, 6, 7],
  },
  'CSV without a header': { content: '"192.0.2.1",x\n2001:db8::/32,y\nAS64500,z\nNL,\n', file: 'x.csv' },
  CSV: { content: 'id,IP Address,note\n1,192.0.2.1,"a, b"\n2,2001:db8::/32,\n3,as64500\n4,NL,x\n', lines: [2, 3, 4, 5] },
  'CSV with semicolons and comments': {
    content: '# made today\n"network";"country"\n192.0.2.1;FR\n\n2001:db8::/32;\nAS64500;\nNL;DE\n',
    lines: [3, 5, 6, 7],
  },
  'CSV with line breaks in cells': {
    content: 'note,value\n"a\nb",192.0.2.1\n"c",2001:db8::/32\n,AS64500\n,NL\n',
    file: 'list.CSV',
    lines: [3, 4, 5, 6],
  },
  'NDJSON of objects': {
    content:
      '{"cidr":"192.0.2.1","sblid":"SBL1"}\n{"cidr":"2001:db8::/32"}\n{"cidr":"AS64500"}\n{"cidr":"NL"}\n{"type":"metadata","records":4}\n',
    file: 'drop_v4.json',
  },
  'NDJSON of texts': { content: '"192.0.2.1"\n"2001:db8::/32"\n"AS64500"\n"NL"\n', format: 'ndjson' },
};
for (const [what, { content, lines = [1, 2, 3, 4], ...given }] of Object.entries(LISTS)) {
  test(`D11.1 a plain list: ${what}, however it is cut into pieces`, async () => {
    const targets = [{ ip: '192.0.2.1' }, { ip: '2001:db8::/32' }, { asn: 'AS64500' }, { country: 'NL' }];
    const expected = targets.map((target, i) => [`line ${lines[i]}`, block(target)]);
    for (const size of [1, 7, 1 << 16]) assert.deepEqual(await sent(content, { ...given, size }), expected);
  });
}

test('D11.1 a plain list: a JSON array of texts and objects', async () => {
  assert.deepEqual(await sent('[ "192.0.2.1", {"asn": 64500},\n {"country":"nl"} ]'), [
    ['entry 0', block({ ip: '192.0.2.1' })],
    ['entry 1', block({ asn: 'AS64500' })],
    ['entry 2', block({ country: 'NL' })],
  ]);
});

test('D11.2 an entry says its own action, expiry, reason, labels, config, rule_ref and name; options fill in what it leaves out', async () => {
  const defaults: Partial<ListDefaults> = { expiresIn: 60, reason: 'option', labels: { source: 'option', more: 'x' } };
  const header = 'value,action,expires_in,reason,labels,confidence,rule_ref,name';
  const rows = [
    '192.0.2.1,,,,,,,',
    '192.0.2.2,ALLOW,7d,own,"{""source"":""own""}",high,r-1,ignored',
    '192.0.2.3,unblock,,,,,,',
    '192.0.2.4,unblock,,,,,r-2,',
  ];
  assert.deepEqual(
    (await sent([header, ...rows].join('\n'), { defaults })).map(([, signal]) => signal),
    [
      block({ ip: '192.0.2.1' }, { expires_in: 60, reason: 'option', labels: { source: 'option', more: 'x' } }),
      {
        kind: 'access_rule',
        op: 'upsert',
        rule_ref: 'r-1',
        expires_in: 604_800,
        reason: 'own',
        labels: { source: 'own', more: 'x' },
        rule: { target: { ip: '192.0.2.2' }, action: 'allow', config: { confidence: 'high' } },
      },
      { kind: 'access_rule', op: 'delete', rule: { target: { ip: '192.0.2.3' }, action: 'block' } },
      { kind: 'access_rule', op: 'delete', rule_ref: 'r-2', rule: { target: { ip: '192.0.2.4' }, action: 'block' } },
    ],
  );
});

test('D11.2, D3.30 an instant of expiry is sent as it is, one beyond a hundred years as those; what has expired is left out; a name without labels is a v1 event', async () => {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const soon = at(3600);
  const rows = [
    { ip: '192.0.2.1', expires_at: soon },
    { ip: '192.0.2.2', expires: at(-1) },
    { ip: '192.0.2.3', expires_at: '9999-12-31' },
    { ip: '192.0.2.4', expires_in: 90, name: 'n', reason: 'r' },
  ];
  const [[, first], [, third], [, named], ...others] = await sent(JSON.stringify(rows));
  assert.deepEqual(others, []);
  assert.deepEqual(first, { ...block({ ip: '192.0.2.1' }), expires_at: soon });
  const longest = Date.parse((third as { expires_at: string }).expires_at) - Date.now() - 3_155_760_000_000;
  assert.ok(Math.abs(longest) < 60_000, String(longest));
  assert.deepEqual(named, { type: 'access_rules', action: 'block', ip: '192.0.2.4', expiration: 90, description: 'r', name: 'n' });
});

test('D11.2 beside an address ASN and country only describe it: a row whose address is missing blocks nothing', async () => {
  assert.deepEqual(await sent('ip,asn,country\n192.0.2.1,64500,US\n,64500,US\n'), [
    ['line 2', block({ ip: '192.0.2.1' })],
    ['line 3', 'there is no address'],
  ]);
  assert.deepEqual(await sent('{"ip":null,"country":"US"}\n'), [['line 1', 'there is no address']]);
  assert.deepEqual(await sent('asn,country\n64500,US\n'), [['line 2', block({ asn: 'AS64500' })]]);
});

test('D11.3 what is wrong with a line is said with its number, and the lines around it are sent', async () => {
  const isBad = async (content: string | Buffer, says: RegExp, given?: Given) => {
    const [[place, fault], [, after]] = await sent(content, given);
    assert.equal(place, /^line/.test(place) ? 'line 2' : 'entry 0');
    assert.match(String(fault), says);
    assert.deepEqual(after, block({ ip: '192.0.2.1' }));
  };
  const bad = [
    ['no', /^"no": must be an address/],
    ['foo', /^"foo": must be an address, a network, an AS number or a country$/],
    ['10.0.0.999', /^"10\.0\.0\.999": an octet must be 0 to 255$/],
    ['10.0.0.0/33', /: the prefix length must be 0 to 32$/],
    ['10.0.0.9-10.0.0.0', /: a range begins with its lower end$/],
  ] as const;
  for (const [value, says] of bad) {
    await isBad(`# x\n${value}\n192.0.2.1\n`, says, { format: 'text' });
    await isBad(`ip\n${value}\n192.0.2.1\n`, says);
    await isBad(`["${value}", "192.0.2.1"]`, says);
  }
  const latin = Buffer.concat([Buffer.from('#\n'), Buffer.from('é', 'latin1'), Buffer.from('\n192.0.2.1\n')]);
  await isBad(latin, /^this is not UTF-8$/, { format: 'text' });
  for (const [cell, says] of [
    ['192.0.2.9,frobnicate,', /^"frobnicate" in "action" is no known verdict, such as block, allow, unblock$/],
    ['192.0.2.9,,soon', /^"soon" in "expires" is neither an instant in ISO 8601, nor a duration, such as 3600 or 7d$/],
  ] as const) {
    await isBad(`ip,action,expires\n${cell}\n192.0.2.1,,\n`, says);
  }
  assert.deepEqual(await sent('{"ip":"192.0.2.1"}\n{"ip":\n{"kind":"access_rule"}\n7'), [
    ['line 1', block({ ip: '192.0.2.1' })],
    ['line 2', 'this is not JSON in UTF-8'],
    ['line 3', 'this is a signal among the entries of a list; send it in a file of its own'],
    ['line 4', 'this is neither text nor an object'],
  ]);
});

test('D11.1 a header without addresses, a quote that is never closed and bytes that are not UTF-8 in CSV are refused', async () => {
  const says = (message: RegExp) => (error: Error & { code?: string }) => error.code === 'USAGE' && message.test(error.message);
  await assert.rejects(sent('a,b\n1,2\n', { format: 'csv' }), says(/none of its columns is called ip, network/));
  await assert.rejects(sent('ip,b\n192.0.2.1,"x\n', { format: 'csv' }), says(/^the file is not CSV: Quote Not Closed/));
  await assert.rejects(sent(Buffer.from('ip,b\n192.0.2.1,é\n', 'latin1'), { format: 'csv' }), says(/^the file is not UTF-8/));
});

test('D11.1 signals are told from lists by their first value', async () => {
  for (const content of ['{"type":"access_rules","ip":"192.0.2.1"}', '[{"kind":"access_rule"}]', '[]']) {
    assert.ok('signals' in (await readContent(chunksOf(content, 3), { file: '-' }, NONE)), content);
  }
});

test('D11.1 what is neither a list nor signals is told in a sentence that is true of it', async () => {
  const aws = { syncToken: '1', prefixes: [{ ip_prefix: '192.0.2.0/24' }] };
  const isOne = /^the file is one JSON object.*: say where its entries stand with a path, such as prefixes\[\]\.ip_prefix$/;
  for (const [content, message] of [
    ['', /^the file is empty$/],
    [' \n\n', /^the file is empty$/],
    [JSON.stringify(aws), isOne],
    [JSON.stringify(aws, null, 2), isOne],
    ['{"a":1}', /^the file is one JSON object, with "a", and neither an entry of a list nor a signal$/],
    ['<!DOCTYPE html>\n<html>', /^the file is a web page or XML, and no list: /],
    ['ID,Note\n1,2\n', /^the first line is neither an address, nor a header with a column that is called ip, .*, nor JSON: "ID,Note"$/],
    ['no', /^the first line is neither /],
    ['7', /^the first line is neither /],
  ] as const) {
    await assert.rejects(sent(content, { size: 3 }), { code: 'USAGE', message });
  }
  assert.deepEqual(await sent('# nothing today\n'), []);
  assert.deepEqual(await sent('# nothing today\n', { file: 'x.csv' }), []);
});

test('D11.2 a country or ASN is never the target of a row in which something else looks like an address', async () => {
  const of = async (content: string, given?: Given) => (await sent(content, given)).map(([, each]) => each);
  const dshield =
    'Start\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n198.51.100.0\t198.51.100.255\t24\t2413\tEXAMPLE\tUS\ta@example.net\n';
  const [event] = (await of(dshield)) as [{ ip: string; country?: string }];
  assert.deepEqual([event.ip, event.country], ['198.51.100.0/24', undefined]);
  for (const name of ['dst_ip', 'IOC', 'Source IP', 'src_ip', 'indicator', 'ioc_value'])
    assert.deepEqual(await of(`id,${name},Country,ASN\n7,192.0.2.1,US,64500\n`), [block({ ip: '192.0.2.1' })], name);
  const unknown =
    '"192.0.2.1" looks like an address, but "badguy" is no column of addresses, and country only describes it: call that column ip';
  assert.deepEqual(await of('badguy,country\n192.0.2.1,US\n'), [unknown]);
  assert.match(String((await of('[{"country":"US","seen":["at 2001:db8::1, today"]}]'))[0]), /^"2001:db8::1" looks like an address/);
  assert.match(String((await of('country,seen\nUS,192.0.2.1:443\n'))[0]), /^"192.0.2.1:443" looks like an address/);
  assert.match(String((await of('NL,192.0.2.1\n', { format: 'text' }))[0]), /it is unclear which one is intended$/);
  assert.deepEqual(await of('src_ip,dst_ip\n192.0.2.1,192.0.2.2\n'), ['src_ip and dst_ip are both possible: name the intended column ip']);
  assert.deepEqual(await of('country,name\nnl,x y\n'), [{ type: 'access_rules', action: 'block', country: 'NL', name: 'x y' }]);
});

test('D39.1 a line or row names one target: a second one is a fault, and what describes the target is none', async () => {
  const of = async (content: string, given?: Given) => (await sent(content, given)).map(([, each]) => each);
  for (const [line, other] of [
    ['192.0.2.1 to 192.0.2.9', '192.0.2.9'],
    ['192.0.2.0 mask 255.255.255.0', '255.255.255.0'],
    ['192.0.2.0/25, 198.51.100.0/24', '198.51.100.0/24'],
    ['2001:db8::/48 2001:db9::/48', '2001:db9::/48'],
    ['192.0.2.1-192.0.2.9, 192.0.2.20-192.0.2.30', '192.0.2.20-192.0.2.30'],
    ['AS64500, AS64501', 'AS64501'],
    ['NL,DE', 'DE'],
  ] as const)
    assert.match(
      String((await of(`${line}\n`, { format: 'text' }))[0]),
      new RegExp(`^"${other}" follows ".*": write a range as FIRST-LAST`),
      line,
    );
  assert.match(
    String((await of('192.0.2.1\nNO DATA TODAY\n'))[1]),
    /^"NO" is a country, or a word of "NO DATA TODAY": write a country alone/,
  );
  assert.deepEqual(await of('192.0.2.1\nNO ; Norway\n'), [block({ ip: '192.0.2.1' }), block({ country: 'NO' })]);
  for (const line of ['192.0.2.1 443 10.0.0.1', '192.0.2.1|US|192.0.2.0/24', '192.0.2.1 // 192.0.2.2', '192.0.2.1,US,EXAMPLE'])
    assert.deepEqual(await of(line), [block({ ip: '192.0.2.1' })], line);
  assert.deepEqual(await of('192.0.2.0/24,192.0.2.0,192.0.2.255'), [block({ ip: '192.0.2.0/24' })]);
  for (const dash of ['–', '—', '−']) assert.deepEqual(await of(`192.0.2.0 ${dash} 192.0.2.3`), [block({ ip: '192.0.2.0/30' })]);

  assert.deepEqual(await of('ip_1,ip_2\n192.0.2.1,\n,192.0.2.2\n192.0.2.3,192.0.2.3\n192.0.2.4,192.0.2.5\n'), [
    ...['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => block({ ip })),
    '"192.0.2.5" in "ip_2" is next to "192.0.2.4" in "ip_1": a row has one target',
  ]);
  assert.deepEqual(await of('ipv4,ipv6,country\n192.0.2.1,,US\n,2001:db8::1,US\n'), [
    block({ ip: '192.0.2.1' }),
    block({ ip: '2001:db8::1' }),
  ]);
  assert.match(String((await of('host1,host2,country\n192.0.2.1,x,US\n'))[0]), /^"192.0.2.1" looks like an address/);
});

test('D39.1 an ASN or country is no target where another column has something that looks like an address, however it is written', async () => {
  const of = async (content: string) => String((await sent(content)).map(([, each]) => each)[0]);
  assert.match(await of('ip,value\n192.0.2.1,US\n'), /^"192.0.2.1" in "ip" is next to "US": it is unclear which one is intended$/);
  assert.match(await of('indicator,host\nAS64500,192.0.2.1\n'), /^"192.0.2.1" in "host" is next to "AS64500"/);
  for (const [text, address] of [
    ['192[.]0[.]2[.]1', '192.0.2.1'],
    ['hxxp://192.0.2.1/x', '192.0.2.1'],
    ['http://[2001:db8::1]/', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ] as const)
    assert.match(
      await of(`url,country\n${text},US\n`),
      new RegExp(`^"${address}" looks like an address, but "url" is no column of addresses`),
      text,
    );
  const [[, own]] = await sent('value,reason\nUS,"as 192.0.2.1 did"\n');
  assert.deepEqual(own, block({ country: 'US' }, { reason: 'as 192.0.2.1 did' }));
});

test('D41.22 configurations and rules of other programs are refused by the name of what they are', async () => {
  const files = {
    'acl localnet src 10.0.0.0/8\nhttp_access deny !localnet': /has ACLs of Squid or HAProxy/,
    'access-list 10 deny 198.51.100.0 0.0.0.255': /is a configuration of Cisco/,
    'ip prefix-list BAD seq 5 permit 198.51.100.0/24': /is a configuration of Cisco/,
    'set policy-options prefix-list BAD 198.51.100.0/24': /Juniper or Palo Alto/,
    'config firewall address\n edit "a"\n set subnet 198.51.100.0 255.255.255.0': /FortiOS/,
    'add host name "h" ip-address "198.51.100.7"': /Check Point/,
    'add address=198.51.100.7 list=bad': /MikroTik/,
    'table <bad> persist { 198.51.100.7 }': /rules of pf/,
    'drop ip [198.51.100.7] any -> any any (msg:"x"; sid:1;)': /Suricata or Snort/,
    'NetRange:       198.51.100.0 - 198.51.100.255\nCIDR: 198.51.100.0/24': /an answer of whois/,
    'ripencc|FR|ipv4|198.51.100.0|256|20100712|allocated': /the statistics of a registry/,
    'sep=;\nip;reason\n198.51.100.7;x': /a line for Excel/,
  };
  for (const [content, message] of Object.entries(files)) await assert.rejects(sent(`${content}\n`), { code: 'USAGE', message }, content);
});

test('D41.6 a line of any form is read in one go, however long it is', async () => {
  const firsts = ['deny 192.0.2.1;', 'add s 192.0.2.1', 'set s {', '*filter', 'ALL: 192.0.2.1', 'a:192.0.2.1-192.0.2.2', '- 192.0.2.1'];
  const others = ['198.51.100.7:', '192.0.2.1 1;', 'Deny from 192.0.2.1', '192.0.2.1', ''];
  const begins = [
    'deny ',
    'add s ',
    'elements = { ',
    '-A INPUT -s ',
    'ALL: ',
    'a:',
    '- ',
    '192.0.2.1:',
    '192.0.2.1 ',
    'Deny from ',
    '192.0.2.1 ',
    '',
  ];
  const pieces = ['.', '-', ':', ' ', '" ', ' #', '\\"', '1.', '[.', '1-', 'a, ', ';', '\t', `${' '.repeat(1000)}[`];
  for (const [i, begin] of begins.entries())
    for (const piece of pieces) {
      const began = process.cpuUsage();
      await sent(`${[...firsts, ...others][i]}\n${begin}${piece.repeat(50_000 / piece.length)}x\n`).catch(() => []);
      assert.ok(process.cpuUsage(began).user < 1_000_000, JSON.stringify(begin + piece));
    }
});

test('D41.17 a column is named, or numbered where there is no header; lines at the beginning are skipped', async () => {
  const of = async (content: string, given: Given) => (await sent(content, given)).map(([place, each]) => [place, targetOf(each)]);
  const targetOf = (each: unknown) => (each as { rule?: { target: { ip?: string; asn?: string } } }).rule?.target.ip ?? each;
  const one = '192.0.2.1';
  const rows = `src_ip,dst_ip,note\n${one},198.51.100.7,x\n`;
  for (const column of ['src_ip', 'SRC_IP ', '1']) assert.deepEqual(await of(rows, { column }), [['line 2', one]], column);
  assert.deepEqual(await of(rows, { column: 'dst_ip' }), [['line 2', '198.51.100.7']]);
  assert.deepEqual(await of(`# made by hand\n# at,src,dst\n1,${one},x\n`, { column: 'src' }), [['line 3', one]]);
  assert.deepEqual(await of(`7;${one};a\n8;198.51.100.7;allow\n9;;x\n`, { column: '2' }), [
    ['line 1', one],
    ['line 3', 'there is no address'],
  ]);
  assert.deepEqual(await of(`when,attacker\n1,${one}\n`, { column: '2' }), [['line 2', one]]);
  assert.deepEqual(await of(`host,netmask,ip\n192.0.2.0,255.255.255.0,198.51.100.7\n`, { column: 'host' }), [['line 2', '192.0.2.0/24']]);
  assert.deepEqual(await of(`host,subnet\n192.0.2.1,198.51.100.0/24\n`, { column: 'host' }), [
    ['line 2', '"198.51.100.0/24" in "subnet" is next to "192.0.2.1" in "host": it is unclear which one is intended'],
  ]);
  assert.deepEqual(await of(`[{"bad":"${one}","ip":"198.51.100.7"},{"ip":"198.51.100.7"}]`, { column: 'bad' }), [
    ['entry 0', one],
    ['entry 1', 'there is no field "bad"'],
  ]);
  assert.deepEqual(await of(`{"bad":"${one}","type":"x"}\n`, { column: 'bad' }), [['line 1', one]]);
  for (const [content, given, message] of [
    [rows, { column: 'no' }, /^there is no column "no" in the header "src_ip, dst_ip, note"$/],
    [rows, { column: '4' }, /^there is no column "4"/],
    [`${one}\n`, { column: 'ip', format: 'text' }, /^a column is for CSV, and for JSON without paths$/],
    ['{"a":[]}', { column: 'ip', paths: [readPath('a[]')] }, /^a column is for CSV, and for JSON without paths$/],
  ] as const)
    await assert.rejects(of(content, given), { code: 'USAGE', message });

  const report = `Report of today\r\n"a, b"\r\n\r\n${rows}`;
  for (const size of [1, 5, 1 << 16]) assert.deepEqual(await of(report, { skip: 3, column: '1', size }), [['line 5', one]]);
  for (const size of [1, 5, 1 << 16])
    assert.deepEqual(await of(`x\ny\n${one}\nz z\n`, { skip: 2, size }), [
      ['line 3', one],
      ['line 4', '"z": must be an address, a network, an AS number or a country'],
    ]);
  await assert.rejects(of(`${one}\n`, { skip: 2 }), { code: 'USAGE', message: 'the file is empty' });
});

test('D41.1 an IPv4-mapped network or range wider than an IPv4 /8 is a fault in each form of list, also as a piece of a range', async () => {
  const says = /covers more than an IPv4 \/8|is no network|is next to an IPv4-mapped address|write the IPv4 network itself/;
  for (const content of [
    '192.0.2.1\n::ffff:0:0/96\n',
    '192.0.2.1\n::ffff:198.51.100.0/24\n',
    'network\n::FFFF:198.51.100.0/24\n',
    '192.0.2.1\n::ffff:0:0-::ffff:ffff:ffff\n',
    'network\n::ffff:0:0/96\n',
    'start,end\n::ffff:0:0,::ffff:ffff:ffff\n',
    'ip,prefix\n::ffff:0:0,96\n',
    'ip,prefix_length\n::ffff:10.0.0.0,4\n',
    'ip,mask\n::ffff:10.0.0.0,240.0.0.0\n',
    '["::ffff:0.0.0.0/100"]',
    '{"cidr":"::ffff:0:0/96"}\n',
  ]) {
    assert.match(String((await sent(content)).at(-1)![1]), says, content);
  }
  // Its pieces are IPv6, one of them ::ffff:0:0/96: the service refuses that one.
  const pieces = (await sent('::fffe:0:0-::1:0:0:0\n')) as [string, { rule: { target: { ip: string } } }][];
  assert.ok(!pieces.some(([, { rule }]) => rule.target.ip.endsWith('.0/0')));
});

test('D39.2 a network at the end of a content without its last line feed is a fault where it has bits behind its prefix', async () => {
  for (const [whole, cut] of [
    ['20.0.1.0/24', 3],
    ['2001:db8::/32', 1],
    ['2001:db8::/128', 2],
  ] as const)
    for (const before of ['', '# x\n192.0.2.1\n', 'id,cidr\n7,192.0.2.1\n8,']) {
      const content = `${before}${whole}`;
      assert.equal((await sent(content)).filter(([, each]) => typeof each === 'string').length, 0, content);
      const told = (await sent(content.slice(0, content.lastIndexOf('/') + 2))).at(-1)!;
      assert.match(String(told[1]), /^".*" is cut: the content ends within this line, and it is no network$/, `${content} ${cut}`);
    }
  assert.deepEqual(await sent('20.0.1.0/2\n'), [['line 1', block({ ip: '0.0.0.0/2' })]]);
});

test('D11.2 ranges are the fewest networks; start, end and prefix length are one network; what is neither is a fault', async () => {
  const of = async (line: string) =>
    (await sent(`${line}\n`, { format: 'text' })).map(
      ([, each]) => (each as { rule?: { target: { ip: string } } }).rule?.target.ip ?? each,
    );
  const nine = ['192.0.2.1', '192.0.2.2/31', '192.0.2.4/30', '192.0.2.8/31'];
  for (const line of [
    '192.0.2.1 - 192.0.2.9',
    '192.0.2.1-192.0.2.9',
    '192.0.2.1- 192.0.2.9 # x',
    '192.0.2.1 -192.0.2.9',
    '"192.0.2.1-192.0.2.9",x',
  ])
    assert.deepEqual(await of(line), nine, line);
  assert.deepEqual(await of('2001:db8::-2001:db8::1:ffff // x'), ['2001:db8::/111']);
  for (const line of ['198.51.100.0\t198.51.100.255\t24\t7\tNAME', '198.51.100.0 198.51.100.255 24'])
    assert.deepEqual(await of(line), ['198.51.100.0/24']);
  for (const [line, says] of [
    ['198.51.100.0 198.51.100.255 25', /^"25" in "netmask" and "198.51.100.255" in "end" do not agree$/],
    ['198.51.100.0 255.255.255.0', /^a second address follows "198.51.100.0"/],
    ['192.0.2.1 192.0.2.2', /^a second address/],
    ['192.0.2.0 /24', /^there is a blank between/],
    ['192.0.2.1 - x', /must be an address/],
    ['192.0.2.1 - 2001:db8::1', /the ends of a range are of one family/],
    ['192.0.2.1 - -', /must be an address|no address/],
    ['192.0.2.0//24', /^"192.0.2.0\/\/24": /],
    ['192.0.2.0/24-192.0.2.9', /must be an address/],
  ] as const) {
    const [fault, ...others] = await of(line);
    assert.match(String(fault), says, line);
    assert.equal(others.length, 0);
  }
  assert.deepEqual(
    (await sent('ip,netmask\n192.0.2.0,24\n192.0.2.1,24\n')).map(([, each]) => each),
    [block({ ip: '192.0.2.0/24' }), '"24" in "netmask" does not make a network of its address: write ADDRESS/LENGTH'],
  );
  assert.match(String((await sent('ip,rule_ref\n192.0.2.0-192.0.2.2,r\n'))[0]![1]), /^a rule_ref is of one network, and this range is 2$/);
});

test('D11.1 a file that says how many entries it has, and has fewer, is cut; so is gzip without its end', async () => {
  const drop = '{"cidr":"192.0.2.0/24"}\n{"type":"metadata","records":2}\n';
  await assert.rejects(sent(drop), { code: 'USAGE', message: 'the file announces 2 entries but has 1: it is truncated' });
  await assert.rejects(sent('# Entries : 1,000 unique IPs\n192.0.2.1\n'), {
    code: 'USAGE',
    message: /^the file announces 1000 entries/,
  });
  assert.deepEqual(await sent(gzipSync('192.0.2.1\n'), { file: 'x.txt.gz', size: 5 }), [['line 1', block({ ip: '192.0.2.1' })]]);
  await assert.rejects(sent(gzipSync('192.0.2.1\n'.repeat(1000)).subarray(0, -9)), {
    code: 'USAGE',
    message: /^the gzip file is truncated or damaged/,
  });
  const bomb = gzipSync(Buffer.alloc(8 << 20, '#\n'));
  await assert.rejects(sent(bomb, { mostBytes: 1 << 20 }), {
    code: 'TOO_LARGE',
    message: 'the file is larger than 1 MiB unpacked',
  });
  await assert.rejects(sent(`${'\n'.repeat(1001)}192.0.2.1`, { mostLines: 1000, format: 'text' }), {
    code: 'TOO_LARGE',
    message: /more than 1000 lines/,
  });
});

test('D11.1, D47.12 JSON by paths: what stands nowhere, twice as deep or beside a condition is told, and never guessed', async () => {
  const paths = (...texts: string[]) => texts.map(readPath);
  const aws = JSON.stringify({
    prefixes: [
      { ip_prefix: '192.0.2.0/24', service: 'A' },
      { ip_prefix: '198.51.100.0/24', service: 'B' },
    ],
  });
  assert.deepEqual(await sent(aws, { paths: paths('prefixes[].ip_prefix'), condition: readCondition('service=B') }), [
    ['prefixes[1]', block({ ip: '198.51.100.0/24' })],
  ]);
  await assert.rejects(sent(aws, { paths: paths('prefixes[].ip_prefix', 'v6[].ip_prefix') }), {
    code: 'USAGE',
    message: 'nothing found at v6[].ip_prefix',
  });
  assert.deepEqual(await sent('{"a":[{"ip":"192.0.2.1"},{"x":1}]}', { paths: paths('a[].ip') }), [
    ['a[0]', block({ ip: '192.0.2.1' })],
    ['a[1]', 'nothing found at a[].ip'],
  ]);
  assert.deepEqual(await sent('{"n":{"ip":"192.0.2.1"}}\n{"n":{"ip":"192.0.2.2"}}\n', { paths: paths('n.ip') }), [
    ['entry 0', block({ ip: '192.0.2.1' })],
    ['entry 1', block({ ip: '192.0.2.2' })],
  ]);
  await assert.rejects(sent('{"a":[{"ip":"192.0.2.1"}', { paths: paths('a[].ip') }), {
    code: 'USAGE',
    message: 'the file is not JSON: it ends too early',
  });
  await assert.rejects(sent('['.repeat(100_000), { paths: paths('[]') }), { code: 'USAGE', message: /more than 64 levels/ });
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const described = await sent(`ip,config\n192.0.2.1,"${deep.replaceAll('"', '""')}"\n`);
  assert.deepEqual(described, [['line 2', block({ ip: '192.0.2.1' })]]);
  for (const text of ['', 'a..b', 'a[0]', '$.a', 'a b']) assert.throws(() => readPath(text), { code: 'USAGE' }, text);
  await assert.rejects(sent('192.0.2.1\n', { paths: paths('a') }), { code: 'USAGE', message: 'paths are for JSON, and this file is none' });
});

test('D1.11, D11.3 what is no text in UTF-8 is one sentence for the whole file; a CR within a line is a fault of the line', async () => {
  const lines = '192.0.2.1\r\n192.0.2.2\r\n';
  for (const content of [Buffer.from(lines, 'utf16le'), Buffer.from(`\uFEFF${lines}`, 'utf16le')])
    await assert.rejects(sent(content), { code: 'USAGE', message: 'the file is UTF-16: save it as text in UTF-8' });
  assert.deepEqual(await sent('192.0.2.1\r192.0.2.2\r\n192.0.2.3\r\n'), [
    ['line 1', 'this line contains a CR: end lines with LF or CR LF'],
    ['line 2', block({ ip: '192.0.2.3' })],
  ]);
});

test('D11.6 Suricata: the sources of alerts, with signature and number; other events are passed over', async () => {
  const event = (more: object) => JSON.stringify({ timestamp: '2026-11-20T10:00:00.000000+0000', src_ip: '192.0.2.1', ...more });
  const alert = { signature_id: 2001219, signature: 'ET SCAN Potential SSH Scan', category: 'Attempted Information Leak', severity: 2 };
  const events = [
    event({ event_type: 'flow' }),
    event({ event_type: 'alert', alert }),
    event({ event_type: 'stats' }),
    event({ event_type: 'alert', alert: { ...alert, source: { ip: '192.0.2.2' }, target: { ip: '192.0.2.1' } } }),
    '{"event_type":"al',
  ];
  const told = { reason: alert.signature, labels: { source: 'suricata', signature_id: 2001219 } };
  assert.deepEqual(await sent(events.join('\n'), { file: 'eve.json', format: 'suricata' }), [
    ['line 2', block({ ip: '192.0.2.1' }, told)],
    ['line 4', block({ ip: '192.0.2.2' }, told)],
    ['line 5', 'this is not JSON in UTF-8'],
  ]);
});

const NO_PAUSE = async () => {};

test('D54.1 a report, an e-mail and a log give what is unmistakably an address or a network, each once, with its line', async () => {
  const TEXTS: Readonly<Record<string, readonly string[]>> = {
    'C2 at hxxp://45[.]83[.]64[.]1:8080/a.php, 45(.)83{.}64[dot]2 and 45(dot)83(dot)64(dot)3.': ['45.83.64.1', '45.83.64.2', '45.83.64.3'],
    '2001[:]db8[:][:]1, src:2001:db8::2: [2001:db8::3]:443 ::ffff:192.0.2.9 <2001:db8:5::/48>': [
      ...['2001:db8::1', '2001:db8::2', '2001:db8::3', '192.0.2.9', '2001:db8:5::/48'],
    ],
    '198.51.100.0/255.255.255.0 (203.0.113.0/24) 192.0.2.1-192.0.2.4': [
      '198.51.100.0/24',
      '203.0.113.0/24',
      '192.0.2.1',
      '192.0.2.2/31',
      '192.0.2.4',
    ],
    'x@192.0.2.1; ip="192.0.2.2" 192.0.2.3->192.0.2.4:80 http://192.0.2.5/24 192.0.2.6.': [1, 2, 3, 4, 5, 6].map((n) => `192.0.2.${n}`),
    'version 1.2.3.4 and 1.2.3.4 again': ['1.2.3.4'],
    'v2.3.4.5 1.3.6.1.4.1.311 300.1.1.1 4.3.2.1.in-addr.arpa 1.2.3.4.example.com openssl-1.2.3.4.tar.gz': [],
    '12:34:56 00:1a:2b:3c:4d:5e 50:01:43:80:12:0b:ab:cd std::a a::b dead::beef x[1::2] ::1': [],
    'Content-Transfer-Encoding: quoted-printable\n\nfrom 192.0.2.=\n77, url=3D198.51.100.7': ['192.0.2.77', '198.51.100.7'],
  };
  for (const [text, expected] of Object.entries(TEXTS)) {
    const { found, unclear } = await extractTargets(text, NO_PAUSE);
    assert.deepEqual(
      found.map(({ network }) => formatNetwork(network)),
      expected,
      text,
    );
    assert.deepEqual(unclear, [], text);
  }
  const { found } = await extractTargets('first\nversion 1.2.3.4\nand 1[.]2[.]3[.]4', NO_PAUSE);
  assert.deepEqual(
    found.map(({ line, context, times }) => [line, context, times]),
    [[2, 'version 1.2.3.4', 2]],
  );
});

test('D54.1 an ambiguous notation is named with its line, and nothing is found there', async () => {
  const UNCLEAR: Readonly<Record<string, RegExp>> = {
    '203.0.113.9/24': /host bits: write 203.0.113.9 or 203.0.113.0\/24/,
    '2001:db8::7/64': /host bits/,
    '10.0.0.0:24': /port or a prefix length/,
    '192.0.2.1-7': /range or a version/,
    '192.0.2.9-192.0.2.1': /./,
    '198.51.100.*': /write 198.51.100.0\/24/,
    '010.1.2.3': /leading zeros/,
    'Chrome/120.0.0.0': /part of a name/,
    'ip-192.0.2.1 ': /part of a name/,
    '192.0.2.0/24/index': /path/,
    '192.0.2.0/255.0.255.0': /no mask/,
  };
  for (const [text, why] of Object.entries(UNCLEAR)) {
    const { found, unclear } = await extractTargets(`a\nb ${text}`, NO_PAUSE);
    assert.deepEqual([found, unclear.length, unclear[0]?.line], [[], 1, 2], text);
    assert.match(unclear[0]!.why, why, text);
  }
});

test('D54.1 what is beyond the limits is counted; a long line without blanks is not cut within an address', async () => {
  const many = Array.from({ length: 1002 }, (_, i) => `100.64.${i >> 8}.${i & 255}`).join(' ');
  const { found, foundLeftOut } = await extractTargets(many, NO_PAUSE);
  assert.deepEqual([found.length, foundLeftOut], [1000, 2]);
  const long = await extractTargets(`${'a,'.repeat(4090)}192.0.2.123,${'b,'.repeat(9000)} 192.0.2.1`, NO_PAUSE);
  assert.deepEqual(
    long.found.map(({ network }) => formatNetwork(network)),
    ['192.0.2.123', '192.0.2.1'],
  );
});

test('D54.1 other work gets turns however the text is divided: empty lines, addresses without a blank', async () => {
  for (const text of ['\n'.repeat(100_000), '192.0.2.1,'.repeat(10_000)]) {
    let pauses = 0;
    await extractTargets(text, async () => {
      pauses += 1;
    });
    assert.ok(pauses >= 30, `${pauses} pauses`);
  }
});
