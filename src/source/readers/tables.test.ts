/** What the cells of tables mean: CSV, TSV, Zeek's tables and objects of JSON (SPEC D40). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleBody } from '../../feed/formats/example.ts';
import { FORMATS, LIST_FORMATS } from '../../feed/formats/table.ts';
import { formatTarget } from '../../signal/target.ts';
import { countingWarnings, entrySignals, readContent, warningTexts } from './content.ts';
import type { ListDefaults } from './entry.ts';
import { readExpiry } from './expiry.ts';
import { readPath } from './paths.ts';
import type { ListAction } from './verdict.ts';

const NONE: ListDefaults = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} };

async function* once(content: string) {
  yield Buffer.from(content);
}

interface Given {
  readonly action?: ListAction;
  readonly file?: string;
  readonly paths?: readonly string[];
}

/** The targets of a content; `allow` stands before those that are to be allowed, `-` before a reason to skip, `!` before a fault. */
async function said(content: string, { action = 'block', file = '-', paths = [] }: Given = {}): Promise<string[]> {
  const read = await readContent(once(content), { file, paths: paths.map(readPath) }, { ...NONE, action });
  assert.ok('entries' in read, 'this is a list');
  return (await Array.fromAsync(read.entries)).map((each) => {
    if ('fault' in each) return `! ${each.fault}`;
    if ('passed' in each) return `- ${each.passed}`;
    return `${each.entry.action === 'block' ? '' : `${each.entry.action} `}${formatTarget(each.entry.target)}`;
  });
}

/** Rows: a header, the cells, and what they say: targets, or how the fault or the reason to skip begins. */
type Rows = Readonly<Record<string, readonly (readonly [cells: string, ...said: string[]])[]>>;

async function hold(rows: Rows, given?: Given): Promise<void> {
  for (const [header, all] of Object.entries(rows))
    for (const [cells, ...expected] of all) {
      const names = header.split(',');
      const values = cells.split(',');
      const object = Object.fromEntries(names.map((name, i) => [name, values[i] ?? null]));
      const rows = cells.split(',').join('\t');
      for (const content of [
        `${header}\n${cells}\n`,
        `#separator \\x09\n#fields\t${names.join('\t')}\n${rows}\n`,
        `[${JSON.stringify(object)}]`,
      ]) {
        const found = await said(content, given);
        assert.equal(found.length, expected.length, `${content}: ${found.join(', ')}`);
        for (const [i, each] of expected.entries())
          assert.ok(/^[!-]/.test(each) ? found[i]!.startsWith(each) : found[i] === each, `${content}: ${found.join(', ')}\nis not ${each}`);
      }
    }
}

test('D40.1 a cell that may change what a row blocks is understood, or the row is an error that names it; other columns are description', () =>
  hold({
    'ip,gateway': [
      ['198.51.100.7,router', '198.51.100.7'],
      ['198.51.100.7,198.51.100.7', '198.51.100.7'],
      ['198.51.100.7,198.51.100.0/24', '198.51.100.7'],
      ['198.51.100.7,198.51.100.1', '! "198.51.100.1" in "gateway" is next to "198.51.100.7" in "ip"'],
      ['198.51.100.0,198.51.100.0/24', '! "198.51.100.0/24" in "gateway" begins with "198.51.100.0" in "ip"'],
    ],
    'ip,version,notes': [['198.51.100.7,7.4.0.1,203.0.113.9', '198.51.100.7']],
    'ip,subnet_prefix_bits': [['198.51.100.0,24', '! "24" in "subnet_prefix_bits" may be its mask or prefix length']],
    'ip,asn': [
      ['198.51.100.7,64500', '198.51.100.7'],
      [',64500', '! there is no address'],
      ['-,64500', '! there is no address'],
    ],
    'asn,ip': [['64500', '! there is no address']],
    'ip,src_ip,dst_ip': [
      ['198.51.100.7,198.51.100.7,198.51.100.7', '198.51.100.7'],
      ['198.51.100.7,198.51.100.7,203.0.113.9', '! "203.0.113.9" in "dst_ip"'],
    ],
    'src_ip,dst_ip': [['198.51.100.7,', '! src_ip and dst_ip are both possible: name the intended column ip']],
  }));

test('D40.2 one column is the target, and what describes it is none', () =>
  hold({
    'name,ip,value': [
      ['x,198.51.100.7,5', '198.51.100.7'],
      ['x,198.51.100.7,203.0.113.9', '! "203.0.113.9" in "value" is next to'],
      ['x,,203.0.113.9', '203.0.113.9'],
      ['x,198.51.100.7,US', '! "198.51.100.7" in "ip" is next to "US"'],
    ],
    'ip,asn,prefix': [
      ['198.51.100.7,64500,198.51.100.0/24', '198.51.100.7'],
      ['198.51.100.0,64500,198.51.100.0/24', '198.51.100.0'],
      ['198.51.100.7,64500,203.0.113.0/24', '! "203.0.113.0/24" in "prefix" is next to'],
    ],
    'prefix,asn': [['198.51.100.0/24,64500', '198.51.100.0/24']],
    'network,ip': [
      ['198.51.100.0/24,198.51.100.7', '198.51.100.7'],
      ['EXAMPLE-NET,198.51.100.7', '198.51.100.7'],
      ['198.51.100.0/33,198.51.100.7', '! "198.51.100.0/33" in "network" is no network'],
      ['198.51.100.0/24,198.51.100.0', '! "198.51.100.0/24" in "network" begins with'],
    ],
    'ip,IP Address': [
      ['198.51.100.7,198.51.100.7', '198.51.100.7'],
      ['198.51.100.7,198.51.100.8', '! "198.51.100.8" in "IP Address" is next to'],
      ['198.51.100.7,2001:db8::7', '! "2001:db8::7" in "IP Address" is next to'],
    ],
    'indicator,host': [['198.51.100.7,example.net', '198.51.100.7']],
  }));

test('D40.3 the type of a row: what is no address is skipped and counted, one of another family or sort is an error', () =>
  hold({
    'indicator,type': [
      ['198.51.100.7/8,url', '- the type url is no address'],
      ['198.51.100.7,Domain', '- the type Domain is no address'],
      ['198.51.100.7,FileHash-SHA256', '- the type FileHash-SHA256'],
      ['198.51.100.7,email-addr', '- the type email-addr'],
      ['198.51.100.7,network-traffic', '- the type network-traffic'],
      ['198.51.100.7,IPv4', '198.51.100.7'],
      ['198.51.100.7,ipv4-addr', '198.51.100.7'],
      ['198.51.100.7|443,ip-dst|port', '198.51.100.7'],
      ['example.net|198.51.100.7,domain|ip', '198.51.100.7'],
      ['198.51.100.7,IPv6', '! the type is IPv6, and the target is another'],
      ['198.51.100.7,asn', '! the type is asn'],
      ['AS64500,AS', 'AS64500'],
      ['NL,country', 'NL'],
      ['198.51.100.7,malware', '198.51.100.7'],
      ['198.51.100.7,tor-exit', '198.51.100.7'],
      ['198.51.100.7,mail', '198.51.100.7'],
      ['198.51.100.7,203.0.113.9', '! "203.0.113.9" in "type" is next to'],
    ],
    'indicator,indicator_type,meta.source': [
      ['198.51.100.7/8,Intel::URL,x', '- the type Intel::URL'],
      ['198.51.100.7,Intel::ADDR,x', '198.51.100.7'],
      ['198.51.100.0/24,Intel::SUBNET,x', '198.51.100.0/24'],
      ['198.51.100.7,Intel::CERT_HASH,x', '- the type Intel::CERT_HASH'],
      ['198.51.100.7,-,x', '198.51.100.7'],
      ['198.51.100.7,nonsense,x', '! "nonsense" in "indicator_type" is no known type of an indicator'],
    ],
    'ioc,ioc_type': [
      ['198.51.100.7|443,ip:port', '198.51.100.7'],
      ['198.51.100.7,md5_hash', '- the type md5_hash'],
    ],
    'value,itype': [
      ['198.51.100.7,c2_ip', '198.51.100.7'],
      ['198.51.100.7/8,mal_domain', '- the type mal_domain'],
    ],
    'observable_value,entity_type': [
      ['198.51.100.7,IPv4-Addr', '198.51.100.7'],
      ['198.51.100.7,StixFile', '- the type StixFile'],
    ],
    'value,scope,duration': [
      ['198.51.100.7,Ip,4h', '198.51.100.7'],
      ['198.51.100.0/24,Range,4h', '198.51.100.0/24'],
      ['7,username,4h', '- the type username'],
    ],
  }));

const MASK_NAMES = ['netmask', 'mask', 'subnet_mask', 'subnet', 'Subnet Mask', 'cidr', 'network', 'prefix', 'ip_mask'];
const LENGTH_NAMES = [
  ...MASK_NAMES,
  'mask_length',
  'masklen',
  'prefix_length',
  'prefixlen',
  'length',
  'bits',
  'cidr_prefix',
  'network_prefix',
];
const LAST_NAMES = [
  'end',
  'end_ip',
  'ip_end',
  'to',
  'last',
  'range_end',
  'ip_to',
  'endAddress',
  'last_address',
  'high',
  'stop',
  'subnet_end',
];

test('D40.4 masks, prefix lengths, sizes and last addresses in other columns', async () => {
  for (const name of LENGTH_NAMES)
    await hold({
      [`ip,${name}`]: [
        ['198.51.100.0,24', '198.51.100.0/24'],
        ['198.51.100.0,/24', '198.51.100.0/24'],
        ['2001:db8::,32', '2001:db8::/32'],
        ['198.51.100.7,24', `! "24" in "${name}" does not make a network`],
        ['198.51.100.0,0', `! "0" in "${name}" would be all addresses`],
        ['198.51.100.0,33', `! "33" in "${name}" is no prefix length`],
        ['198.51.100.0/24,24', '198.51.100.0/24'],
        ['198.51.100.0/24,25', `! "25" in "${name}" and "198.51.100.0/24" in "ip" do not agree`],
        ['198.51.100.0,', '198.51.100.0'],
      ],
    });
  for (const name of MASK_NAMES)
    await hold({
      [`${name},ip`]: [
        ['255.255.255.0,198.51.100.0', '198.51.100.0/24'],
        ['255.255.255.255,198.51.100.0', '198.51.100.0'],
        ['255.255.255.0,198.51.100.7', `! "255.255.255.0" in "${name}" does not make a network`],
        ['255.0.255.0,198.51.100.0', `! "255.0.255.0" in "${name}" is no mask: its ones`],
        ['0.0.0.0,198.51.100.0', `! "0.0.0.0" in "${name}" would be all addresses`],
        ['255.255.255.0,2001:db8::', `! "255.255.255.0" in "${name}" is no mask of this address`],
      ],
    });
  for (const name of LAST_NAMES)
    await hold({
      [`ip,${name}`]: [
        ['198.51.100.0,198.51.100.255', '198.51.100.0/24'],
        ['198.51.100.7,198.51.100.9', '198.51.100.7', '198.51.100.8/31'],
        ['198.51.100.7,198.51.100.7', '198.51.100.7'],
        ['198.51.100.0/24,198.51.100.255', '198.51.100.0/24'],
        ['198.51.100.0/24,198.51.100.254', `! "198.51.100.254" in "${name}" and "198.51.100.0/24" in "ip" do not agree`],
        ['198.51.100.7,198.51.100.6', `! "198.51.100.6" in "${name}" is lower`],
        ['198.51.100.7,2001:db8::7', `! "2001:db8::7" in "${name}" is of another family`],
        ['198.51.100.7,198.51.100.300', `! "198.51.100.300" in "${name}" is no last address`],
      ],
    });
  await hold({
    'address,wildcard': [
      ['198.51.100.0,0.0.0.255', '198.51.100.0/24'],
      ['198.51.100.7,0.0.0.0', '198.51.100.7'],
      ['198.51.100.0,255.255.255.0', '! "255.255.255.0" in "wildcard" is no mask'],
      ['198.51.100.0,255.255.255.255', '! "255.255.255.255" in "wildcard" would be all addresses'],
    ],
    'network,size': [
      ['198.51.100.0,256', '198.51.100.0/24'],
      [
        '198.51.100.7,1000',
        '198.51.100.7',
        '198.51.100.8/29',
        '198.51.100.16/28',
        '198.51.100.32/27',
        '198.51.100.64/26',
        '198.51.100.128/25',
        '198.51.101.0/24',
        '198.51.102.0/24',
        '198.51.103.0/25',
        '198.51.103.128/26',
        '198.51.103.192/27',
        '198.51.103.224/29',
        '198.51.103.232/30',
        '198.51.103.236/31',
        '198.51.103.238',
      ],
      ['198.51.100.0,24', '! "24" in "size" may be a prefix length or a number'],
      ['198.51.100.0,1', '! "1" in "size" may be'],
      ['255.255.255.0,512', '! "255.255.255.0" in "network" has no address in its row'],
      ['198.51.100.0/24,77', '198.51.100.0/24'],
    ],
    'ip,mask,length': [
      ['198.51.100.0,255.255.255.0,24', '198.51.100.0/24'],
      ['198.51.100.0,255.255.255.0,25', '! "25" in "length" and "255.255.255.0" in "mask"'],
    ],
    'cidr,id': [['24,7', '! "24" in "cidr" has no address in its row']],
  });
  assert.deepEqual(
    await said('[{"ip":"198.51.100.0","cidr":24},{"ip":"198.51.100.0","mask_length":24},{"ip":"198.51.100.0","cidr":24.5}]'),
    ['198.51.100.0/24', '198.51.100.0/24', '! "24.5" in "cidr" is no network'],
  );
});

test('D40.4 a number behind the address of a line is none of its network, or an error', async () => {
  for (const mark of [' ', ',', ';', '\t', '|', ', ']) {
    for (const [address, number] of [
      ['198.51.100.0', '24'],
      ['198.51.100.4', '30'],
      ['2001:db8::', '32'],
    ])
      assert.match((await said(`203.0.113.9\n${address}${mark}${number}${mark}x\n`))[1]!, /^! .* may be a port or a prefix length/, mark);
    assert.deepEqual(await said(`198.51.100.7${mark}24\n198.51.100.0${mark}33\n198.51.100.0/24${mark}25\n`), [
      '198.51.100.7',
      '198.51.100.0',
      '198.51.100.0/24',
    ]);
  }
});

test('D40.5 first and last addresses that are the bounds of the network describe it; otherwise they are the range, or an error', () =>
  hold({
    'network,first,last': [
      ['198.51.100.0/24,198.51.100.0,198.51.100.255', '198.51.100.0/24'],
      ['198.51.100.0/24,198.51.100.1,198.51.100.254', '! "198.51.100.254" in "last" and'],
      ['198.51.100.0/24,2026-01-01,2026-02-01', '198.51.100.0/24'],
      [',198.51.100.0,198.51.100.127', '198.51.100.0/25'],
    ],
    'start_ip,end_ip,netmask': [
      ['198.51.100.0,198.51.100.255,24', '198.51.100.0/24'],
      ['198.51.100.0,198.51.100.255,', '198.51.100.0/24'],
      ['198.51.100.0,,24', '198.51.100.0/24'],
      ['198.51.100.0,198.51.100.255,25', '! "25" in "netmask" and "198.51.100.255" in "end_ip" do not agree'],
      ['198.51.100.0,,', '! "198.51.100.0" in "start_ip" begins a range that has no end'],
      [',198.51.100.255,24', '! there is no address'],
    ],
    'ip,range_start,range_end': [
      ['198.51.100.7,198.51.100.0,198.51.100.255', '! "198.51.100.0" in "range_start" is not the first address'],
      ['198.51.100.0,198.51.100.0,198.51.100.255', '198.51.100.0/24'],
    ],
    'ip,end': [
      ['198.51.100.7,2026-12-01', '! "2026-12-01" in "end" is no last address'],
      ['198.51.100.7,open', '198.51.100.7'],
    ],
    'from,to': [['198.51.100.0,198.51.100.3', '198.51.100.0/30']],
  }));

test('D40.6 an IPv4 and an IPv6 column of one row are two targets', async () => {
  for (const [one, other] of [
    ['ip', 'ipv6'],
    ['ip_address', 'ipv6_address'],
    ['ip_prefix', 'ipv6_prefix'],
    ['ipv4', 'ipv6'],
    ['ipv4Prefix', 'ipv6Prefix'],
    ['ip', 'ipv6_network'],
    ['cidr_v4', 'cidr_v6'],
  ])
    await hold({
      [`${one},${other}`]: [
        ['198.51.100.7,2001:db8::7', '198.51.100.7', '2001:db8::7'],
        ['198.51.100.7,', '198.51.100.7'],
        [',2001:db8::7', '2001:db8::7'],
        ['198.51.100.7,203.0.113.9', '! "203.0.113.9" in'],
      ],
    });
  await hold({
    'ipv4,ipv6,netmask': [
      ['198.51.100.0,2001:db8::,24', '! "24" in "netmask" is next to two targets'],
      ['198.51.100.0,,24', '198.51.100.0/24'],
    ],
    'ipv4,ipv4_prefix_length,ipv6,ipv6_prefix_length': [
      ['198.51.100.0,24,2001:db8::,32', '198.51.100.0/24', '2001:db8::/32'],
      ['198.51.100.0,24,,64', '198.51.100.0/24'],
    ],
    'ip,ipv6,rule_ref': [['198.51.100.7,2001:db8::7,r', '! a rule_ref is of one network']],
  });
  assert.deepEqual(await said('[{"ip":"198.51.100.7","ipv6":"2001:db8::7"}]'), ['198.51.100.7', '2001:db8::7']);
});

const NOW = Date.now();
/** The end of an entry of a file, ms: `undefined`, or NaN at a fault. */
const endOf = (text: string, role: 'instant' | 'lifetime' | 'expiry' = 'expiry'): number | undefined => {
  const found = readExpiry(text, role);
  if (found === undefined) return undefined;
  return typeof found === 'string' ? Number.NaN : 'at' in found ? found.at : found.seconds * 1000;
};

test('D40.7 expiry in files: instants, durations, words for never and for nothing, or an error', async () => {
  const at = Date.UTC(2026, 11, 1, 10);
  for (const text of [
    at / 1000,
    `${at / 1000}.0`,
    at,
    '2026-12-01 10:00:00',
    '2026-12-01T10:00Z',
    '2026-12-01T12:00:00+02:00',
    '2026-12-01 10:00:00 UTC',
    '2026-12-01 10:00:00 +0000 UTC',
  ])
    for (const role of ['instant', 'lifetime', 'expiry'] as const) assert.equal(endOf(String(text), role), at, `${text} ${role}`);
  assert.equal(endOf('20261201'), Date.UTC(2026, 11, 1));
  assert.equal(endOf('2026-12-01'), Date.UTC(2026, 11, 1));
  for (const text of ['3600', '60m', '1h', '3600s', 'PT1H', '0h60m0.0s', '59m60s']) assert.equal(endOf(text), 3_600_000, text);
  for (const text of ['7d', 'P7D', '168h', 'P1W', '1w', '6d24h']) assert.equal(endOf(text, 'lifetime'), 604_800_000, text);
  assert.equal(endOf('167h59m12.345678901s'), 604_753_000);
  assert.equal(endOf('-1h3m'), -3_780_000);
  for (const text of ['never', 'Permanent', 'forever', '3155760000', '99999999d']) assert.equal(endOf(text), 3_155_760_000_000, text);
  for (const text of ['0', '-1', 'N/A', '-', 'null', 'None', '', ' ']) assert.equal(endOf(text), undefined, text);
  for (const text of [
    'soon',
    '20261301',
    '20261201100000',
    '999999999999999',
    '12/01/2026',
    '1.5',
    '300000000000',
    '1e10',
    'P1M',
    '7 days',
    '2026-02-30',
    '1h30',
  ])
    assert.ok(Number.isNaN(endOf(text)), text);
  assert.ok(Number.isNaN(endOf('20261201', 'lifetime')) && Number.isNaN(endOf('3600', 'instant')));

  const soon = new Date(NOW + 3_600_000).toISOString();
  for (const name of [
    'expiration',
    'expiry',
    'expire',
    'expires',
    'expires_at',
    'valid_until',
    'end_date',
    'expiration_date',
    'until',
    'expiresOn',
  ])
    for (const [cell, isExpired] of [
      [soon, false],
      [String(Math.floor(NOW / 1000) + 3600), false],
      [String(Math.floor(NOW / 1000) - 3600), true],
    ] as const) {
      const { entries } = (await readContent(once(`ip,${name}\n198.51.100.7,${cell}\n`), { file: '-' }, NONE)) as { entries: never };
      let expired = 0;
      const signals = await Array.fromAsync(entrySignals(entries, (left) => (expired = left.expired)));
      assert.deepEqual([signals.length, expired], isExpired ? [0, 1] : [1, 0], `${name} ${cell}`);
      if (!isExpired) assert.match(String((signals[0] as { json: Buffer }).json), /"expires_at":"2/);
    }
  await hold({
    'ip,duration,ttl': [
      ['198.51.100.7,168h,7d', '198.51.100.7'],
      ['198.51.100.7,168h,soon', '! "soon" in "ttl" is neither an instant'],
    ],
    'ip,expiration': [['198.51.100.7,20261301', '! "20261301" in "expiration"']],
    'ip,ttl_days': [
      ['198.51.100.7,7', '! "7" in "ttl_days" may be an expiry'],
      ['198.51.100.7,', '198.51.100.7'],
    ],
  });
});

test('D40.7, D40.8 decisions of CrowdSec keep their durations; captcha, throttle and simulated ones are skipped', async () => {
  const header = 'id,source,ip,reason,action,country,as,events_count,expiration,simulated,alert_id';
  const decision = (ip: string, action: string, expiration: string, simulated: string) =>
    `1,crowdsec,Ip:${ip},crowdsecurity/ssh-bf,${action},US,64500 EXAMPLE,6,${expiration},${simulated},7`;
  const rows = [
    decision('198.51.100.1', 'ban', '167h59m12.5s', 'false'),
    decision('198.51.100.2', 'captcha', '3h', 'false'),
    decision('198.51.100.3', 'throttle', '3h', 'false'),
    decision('198.51.100.4', 'ban', '3h', 'true'),
    decision('198.51.100.5', 'ban', '-3h2m', 'false'),
  ];
  const { entries } = (await readContent(once([header, ...rows, ''].join('\n')), { file: 'x.csv' }, NONE)) as { entries: never };
  let left: unknown;
  const signals = await Array.fromAsync(entrySignals(entries, (all) => (left = all)));
  const { expires_in: seconds, rule } = JSON.parse(String((signals[0] as { json: Buffer }).json));
  assert.deepEqual([signals.length, seconds, rule.target.ip], [1, 604_753, '198.51.100.1']);
  const passed = new Map([
    ['its verdict is captcha, and the import is for block', 1],
    ['its verdict is throttle, and the import is for block', 1],
    ['simulated', 1],
  ]);
  assert.deepEqual(left, { expired: 1, passed });
  assert.deepEqual(
    await said(
      '[{"duration":"4h","scope":"Ip","type":"captcha","value":"198.51.100.7"},{"duration":"4h","scope":"Ip","type":"ban","value":"198.51.100.8"}]',
    ),
    ['- its verdict is captcha, and the import is for block', '198.51.100.8'],
  );
});

test('D40.8 a verdict is that of the import, or the row is skipped and counted; an unknown one is an error', async () => {
  for (const name of ['action', 'verdict', 'decision', 'disposition'])
    await hold({
      [`src_ip,${name}`]: [
        ...['block', 'Deny', 'DROPPED', 'reject', 'banned'].map((verdict) => [`198.51.100.7,${verdict}`, '198.51.100.7'] as const),
        ...['allow', 'Accept', 'permit', 'passed', 'whitelisted', 'captcha', 'throttle', 'unblock'].map(
          (verdict) => [`198.51.100.7,${verdict}`, `- its verdict is ${verdict.toLowerCase()}, and the import is for block`] as const,
        ),
        ['198.51.100.7,frobnicate', `! "frobnicate" in "${name}" is no known verdict`],
        ['198.51.100.7,', '198.51.100.7'],
      ],
    });
  await hold({
    'src_ip,status': [
      ['198.51.100.7,blocked', '198.51.100.7'],
      ['198.51.100.7,allowed', '- its verdict is allowed'],
      ['198.51.100.7,active', '198.51.100.7'],
    ],
    'ipAddress,isWhitelisted': [
      ['198.51.100.7,true', '- its verdict is iswhitelisted'],
      ['198.51.100.7,false', '198.51.100.7'],
    ],
  });
  await hold(
    {
      'ip,action': [
        ['198.51.100.7,accept', 'allow 198.51.100.7'],
        ['198.51.100.7,deny', '- its verdict is deny, and the import is for allow'],
      ],
    },
    { action: 'allow' },
  );
  const own = 'value,action\n198.51.100.7,block\n198.51.100.8,allow\n198.51.100.9,unblock\n198.51.100.10,permit\n';
  assert.deepEqual(await said(own), [
    '198.51.100.7',
    'allow 198.51.100.8',
    'unblock 198.51.100.9',
    '- its verdict is permit, and the import is for block',
  ]);
});

test("D40.9 a row that has an address is no header, a comment before Zeek's table is", async () => {
  assert.deepEqual(await said('198.51.100.1,IP,high,high\n198.51.100.2,IP,high,high\n'), ['198.51.100.1', '198.51.100.2']);
  assert.deepEqual(await said('203.0.113.9,ip,x\n203.0.113.10,198.51.100.77,x\n'), [
    '203.0.113.9',
    '! "198.51.100.77" in "type" is next to "203.0.113.10" in "value": it is unclear which one is intended',
  ]);
  assert.deepEqual(await said('198.51.100.7/8,URL,high,high\n198.51.100.1,IP,high,high\n'), [
    '- the type URL is no address',
    '198.51.100.1',
  ]);
  await assert.rejects(
    said('198.51.100.1,network\n', { file: 'x.csv' })
      .then(() => readContent(once('198.51.100.1,ip\n'), { file: '-', format: 'csv' }, NONE))
      .then((read) => Array.fromAsync((read as { entries: never }).entries)),
    {
      code: 'USAGE',
      message: 'the first line has an address, "198.51.100.1", and so is no header',
    },
  );
  const zeek =
    '#separator \\x09\n#fields\tindicator\tindicator_type\tmeta.desc\n198.51.100.7\tIntel::ADDR\ta, b, c, d\n198.51.100.7/8\tIntel::URL\t\n';
  assert.deepEqual(await said(zeek), ['198.51.100.7', '- the type Intel::URL is no address']);
  assert.deepEqual(await said('#fields\tindicator\n198.51.100.7\n'), ['198.51.100.7']);
  await assert.rejects(said('#fields\tts\tid.orig_h\tid.resp_h\n1\t198.51.100.7\t203.0.113.9\n'), /none of its columns is called ip/);
  // A cell that is empty at the end of a row is a cell.
  assert.deepEqual(await said('# id\tip\tname\n7\t198.51.100.7\t\n'), ['198.51.100.7']);
  assert.deepEqual(await said('network|mask\n198.51.100.0|255.255.255.0\n198.51.100.7|443\n'), [
    '198.51.100.0/24',
    '! "443" in "mask" is no prefix length from 1 to 32',
  ]);
  assert.deepEqual(await said('ip,netmask\n198.51.100.7\n198.51.100.0'), [
    '198.51.100.7',
    '! this row is cut: the content ends within it, and cells are missing',
  ]);
  assert.deepEqual(await said('ip,reason\n198.51.100.7,a, b\n198.51.100.8,a,203.0.113.9\n'), [
    '198.51.100.7',
    '! "203.0.113.9" in "column 3" is next to "198.51.100.8" in "ip": it is unclear which one is intended',
  ]);
});

test('D40.10 weir reads every format of its feeds, and refuses the script of mikrotik', async () => {
  for (const name of LIST_FORMATS)
    assert.deepEqual(await said(exampleBody(FORMATS[name], 1_800_000_000)), ['198.51.100.0/24', '203.0.113.7', '2001:db8::/32'], name);
  await assert.rejects(said(exampleBody(FORMATS.mikrotik, 1_800_000_000)), { code: 'USAGE' });
});

test('D40.11 JSON: objects with a type of their own, a first one without an address, an error, and an array that is empty', async () => {
  assert.deepEqual(await said('[{"type":"c2","ip":"198.51.100.7"},{"type":"url","ip":"198.51.100.7/8"}]'), [
    '198.51.100.7',
    '- the type url is no address',
  ]);
  assert.deepEqual(await said('{"type":"indicator","value":"198.51.100.7"}\n{"kind":"host","value":"198.51.100.8"}\n'), [
    '198.51.100.7',
    '198.51.100.8',
  ]);
  assert.deepEqual(await said('[{"name":"x"},{"ip":"198.51.100.7"},7]'), [
    '! no field is called ip, network, address, cidr, value, ioc, src_ip, dst_ip, start and end, asn or country, and it is not a signal (kind or type)',
    '198.51.100.7',
    '! this is neither text nor an object',
  ]);
  for (const text of [
    '{"error":"rate limited","ip":"203.0.113.9"}',
    '{"success":false,"ip":"203.0.113.9"}',
    '{\n"error": {"code": 7}}',
    '{"errors":["x"],"data":[]}',
  ])
    await assert.rejects(said(text), { code: 'USAGE', message: /^the file is (not a list but an error message|one JSON object)/ }, text);
  assert.deepEqual(await said('{"error":null,"ip":"198.51.100.7"}'), ['198.51.100.7']);
  assert.deepEqual(await said('{"error":"x","ip":"198.51.100.7"}\n{"ip":"198.51.100.8"}\n'), ['198.51.100.7', '198.51.100.8']);
  for (const [text, paths, expected] of [
    ['{"v4":["198.51.100.0/24"],"v6":[]}', ['v4[]', 'v6[]'], ['198.51.100.0/24']],
    ['{"v4":[],"v6":[{"p":"2001:db8::/32"}]}', ['v4[].p', 'v6[].p'], ['2001:db8::/32']],
    ['{"a":{"v4":[{"n":[]}],"v6":[]}}', ['a.v4[].n[]', 'a.v6[]'], []],
    ['[]', ['[].ip'], []],
  ] as const)
    assert.deepEqual(await said(text, { paths }), expected, text);
  await assert.rejects(said('{"v4":[],"b":{"v6":[]}}', { paths: ['v4[]', 'v6[]'] }), { message: 'nothing found at v6[]' });
});

test('D40.12 description never refuses a block: it is mapped, cut, or left out with a warning', async () => {
  const rows = [
    { ip: '198.51.100.1', confidence: 85, severity: 'very-high', labels: ['c2'], name: 7 },
    { ip: '198.51.100.2', confidence: '30%', severity: 'HIGH', labels: 'c2', reason: 'x'.repeat(3000) },
    { ip: '198.51.100.3', confidence: 'odd', severity: 7, labels: { a: 'x'.repeat(9000) }, config: 'none' },
    { ip: '198.51.100.4', confidence: 12, config: { confidence: 'no', x: 1 }, reason: { a: ['\ud800'] } },
    { ip: '198.51.100.5', config: { severity: 'Low' }, description: 'a\0b', reason: true },
    { ip: '198.51.100.6', labels: '{"a":1}', severity: '', confidence: null },
  ];
  const read = (await readContent(once(JSON.stringify(rows)), { file: '-' }, { ...NONE, labels: { from: 'x' } })) as { entries: never };
  const warnings = new Map<string, number>();
  const signals = await Array.fromAsync(entrySignals(countingWarnings(read.entries, warnings), () => {}));
  const told = signals
    .map((each) => JSON.parse(String((each as { json: Buffer }).json)))
    .map(({ rule, labels, reason }) => [rule.config, labels, reason]);
  assert.deepEqual(told, [
    [{ confidence: 'high' }, { from: 'x', tags: ['c2'] }, undefined],
    [{ confidence: 'medium', severity: 'high' }, { from: 'x', tags: 'c2' }, 'x'.repeat(2048)],
    [undefined, { from: 'x' }, undefined],
    [{ x: 1, confidence: 'low' }, { from: 'x' }, '{"a":["\\ud800"]}'],
    [{ severity: 'low' }, { from: 'x' }, 'true'],
    [undefined, { from: 'x', a: 1 }, undefined],
  ]);
  assert.deepEqual(warningTexts(warnings), [
    '2 rows: severity is left out: it must be one of low, medium, high, critical',
    '1 row: reason is cut to 2048 characters',
    '1 row: config is left out: it must be a JSON object',
    '1 row: confidence is left out: it must be one of low, medium, high, critical, or a number from 0 to 100',
    '1 row: labels is left out: it must be at most 8192 bytes as JSON',
  ]);
  const [named] = await Array.fromAsync(
    entrySignals(((await readContent(once('ip,name\n198.51.100.1,7\n'), { file: '-' }, NONE)) as { entries: never }).entries, () => {}),
  );
  assert.equal(JSON.parse(String((named as { json: Buffer }).json)).name, '7');
});

test('D40.13 columns of yes and no say whether a row counts; a removed or inactive one is skipped and counted', async () => {
  const ends = ['disabled', 'is_removed', 'archived', 'negated', 'isExpired'];
  for (const name of ends)
    await hold({
      [`ip,${name}`]: [
        ...['true', 'Yes', '1', 'on', 't'].map((text) => [`198.51.100.7,${text}`, `- ${name.toLowerCase().replace('_', '')}`] as const),
        ...['false', 'no', '0', 'off', 'f', '', 'maybe'].map((text) => [`198.51.100.7,${text}`, '198.51.100.7'] as const),
      ],
    });
  for (const name of ['enabled', 'isActive', 'enforced'])
    await hold({
      [`ip,${name}`]: [
        ['198.51.100.7,false', `- not ${name.toLowerCase()}`],
        ['198.51.100.7,0', `- not ${name.toLowerCase()}`],
        ['198.51.100.7,yes', '198.51.100.7'],
        ['198.51.100.7,2026-01-01', '198.51.100.7'],
      ],
    });
  await hold({
    'ip,is_malicious': [
      ['198.51.100.7,no', '- its verdict is not ismalicious'],
      ['198.51.100.7,yes', '198.51.100.7'],
    ],
    'ip,riot,classification': [
      ['198.51.100.7,true,', '- its verdict is riot'],
      ['198.51.100.7,false,benign', '- its verdict is benign'],
      ['198.51.100.7,false,malicious', '198.51.100.7'],
      ['198.51.100.7,false,unknown', '198.51.100.7'],
    ],
    'ip,false_positive': [['198.51.100.7,true', '- its verdict is false_positive']],
    'ip,status': [
      ...['inactive', 'Revoked', 'deleted', 'false pos'].map(
        (text) => [`198.51.100.7,${text}`, `- status is ${text.toLowerCase()}`] as const,
      ),
      ['198.51.100.7,false positive', '- its verdict is false positive'],
      ['198.51.100.7,offline', '198.51.100.7'],
    ],
    'op,ip': [
      ['delete,198.51.100.7', '- op is delete'],
      ['add,198.51.100.7', '198.51.100.7'],
    ],
  });
  const allow = { action: 'allow' } as const;
  await hold(
    { 'ip,malicious': [['198.51.100.7,no', 'allow 198.51.100.7']], 'ip,blocked': [['198.51.100.7,yes', '- its verdict is blocked']] },
    allow,
  );
});

test('D40.8 the name of a list counts in any column but a description, and only a file like our own makes never-block rules', () =>
  hold({
    'ip,list': [['198.51.100.7,whitelist', '- its verdict is whitelist']],
    'ip,target': [['198.51.100.7,ACCEPT', '- its verdict is accept']],
    'ip,column': [['198.51.100.7,allow me', '198.51.100.7']],
    'ip,spf,login': [
      ['198.51.100.7,pass,accepted', '198.51.100.7'],
      ['198.51.100.8,passed,blocked', '198.51.100.8'],
    ],
    'ip,note': [['198.51.100.7,allow', '198.51.100.7']],
    'type,value,action': [
      ['ipv4,198.51.100.7,allow', '- its verdict is allow'],
      ['ipv4,198.51.100.7,prevent', '198.51.100.7'],
      ['ipv4,198.51.100.7,no_action', '- its verdict is no_action'],
    ],
    'value,action,expires_in,reason': [['198.51.100.7,allow,3600,x', 'allow 198.51.100.7']],
    'value,action,device': [['198.51.100.7,allow,fw1', '- its verdict is allow']],
  }));

test('D40.7 an expiry is known by how its column ends, too', async () => {
  const names =
    'valid_till,banned_until,notAfter,unban_time,removal_date,remove_after,block_end,expired_at,expiration_ts,Expires (UTC),deleted_at';
  for (const name of names.split(','))
    await hold({
      [`ip,${name}`]: [
        ['198.51.100.7,soon', `! "soon" in "${name}" is neither an instant`],
        ['198.51.100.7,2099-01-01', '198.51.100.7'],
      ],
    });
  await hold({ 'ip,timeout': [['198.51.100.7,soon', '! "soon" in "timeout" is neither']] });
});

test('D40.1, D40.4 masks and lengths in other words: an error, never one address', async () => {
  const names = ['suffix', 'cidr_block', 'nbits', 'Maske', 'Netzmaske', 'Pr\u00e4fix', 'M\u00e1scara', 'masque'];
  for (const name of names) await hold({ [`ip,${name}`]: [['198.51.100.0,24', `! "24" in "${name}" may be its mask or prefix length`]] });
  await hold({ 'ip,range': [['198.51.100.0,0-255', '! "0-255" in "range" is no network']] });
  const texts = ['prefix 24', 'mask=255.255.255.0', ',netmask=24', 'len: 24', 'cidr 24', 'to 9', '(24)', 'prefix-length 24'];
  for (const text of texts) assert.match((await said(`192.0.2.1\n198.51.100.0 ${text}\n`))[1]!, /^! /, text);
  for (const text of ['mask 3M', 'prefix of a spammer', 'to port 22', '(24 times)'])
    assert.deepEqual(await said(`192.0.2.1\n198.51.100.0 ${text}\n`), ['192.0.2.1', '198.51.100.0'], text);
});

test('D41.5 a word that lets an address through and stands alone behind it skips the line', async () => {
  const lines = ['good', 'safe', 'removed', '= allow', 'trusted proxy', 'good reason', 'removed twice'];
  assert.deepEqual(await said(['192.0.2.1', ...lines.map((text, i) => `198.51.100.${i} ${text}`), ''].join('\n')), [
    '192.0.2.1',
    '- its verdict is good, and the import is for block',
    '- its verdict is safe, and the import is for block',
    '- verdict is removed',
    '- its verdict is allow, and the import is for block',
    '- its verdict is trusted, and the import is for block',
    '198.51.100.5',
    '198.51.100.6',
  ]);
});

test('D40.4 a mask of IPv6 written as an address, as in the ranges of Atlassian', async () => {
  await hold({
    'ip,netmask': [
      ['2001:db8:3000::,ffff:ffff:f000::', '2001:db8:3000::/36'],
      ['2001:db8::1,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::1'],
      ['2001:db8::,ffff:f0ff::', '! "ffff:f0ff::" in "netmask" is no mask: its ones do not stand together'],
      ['2001:db8::,::', '! "::" in "netmask" would be all addresses'],
      ['2001:db8::,255.255.255.0', '! "255.255.255.0" in "netmask" is no mask of this address'],
      ['198.51.100.0,ffff::', '! "ffff::" in "netmask"'],
    ],
    'ip,wildcard': [['2001:db8::,::ffff:ffff:ffff:ffff:ffff', '2001:db8::/48']],
  });
  const item = { network: '2001:db8:3000::', mask_len: 36, cidr: '2001:db8:3000::/36', mask: 'ffff:ffff:f000::', direction: ['egress'] };
  assert.deepEqual(await said(JSON.stringify({ items: [item] }), { file: 'x.json', paths: ['items[].cidr'] }), ['2001:db8:3000::/36']);
});

test('D41.5, D41.12 what stands below a heading or a name of what is not blocked is skipped', async () => {
  const below = async (heading: string, action: ListAction = 'block') =>
    (await said(`198.51.100.1\n${heading}\n198.51.100.2\n`, { action })).at(-1)!;
  for (const heading of ['[whitelist]', 'Allowed:', 'Allow these:', '[never block]', 'Exceptions:', '[safe hosts]'])
    assert.match(await below(heading), /^- its verdict is \w+, and the import is for block$/, heading);
  for (const heading of ['[blocklist]', 'Denied hosts:', '[more]', 'Scanners:'])
    assert.equal(await below(heading), '198.51.100.2', heading);
  assert.equal(await below('Allowed:', 'allow'), 'allow 198.51.100.2');
  const yaml = async (name: string) => (await said(`${name}:\n  - 198.51.100.1\n`))[0]!;
  for (const name of ['except', 'ignore_ips', 'neverBlock', 'trusted_proxies', 'allowed-hosts'])
    assert.match(await yaml(name), /^- its verdict/, name);
  for (const name of ['blocked', 'block_list', 'scanners', 'denied_hosts']) assert.equal(await yaml(name), '198.51.100.1', name);
});

test('D41.21 a text at the end of a path is the target of its object: mask, end, type, verdict and expiry beside it count', async () => {
  const leaf = async (object: object, path = '[].ip') => (await said(JSON.stringify([object]), { file: 'x.json', paths: [path] }))[0];
  const ip = '198.51.100.0';
  assert.equal(await leaf({ ip, mask: 24 }), '198.51.100.0/24');
  assert.equal(await leaf({ ip, cidr: '255.255.255.0' }), '198.51.100.0/24');
  assert.equal(await leaf({ start: ip, end: '198.51.100.255' }, '[].start'), '198.51.100.0/24');
  assert.match((await leaf({ start: ip, end: '198.51.100.255' }, '[].end'))!, /^! "198.51.100.0" in "start" is not the first address/);
  assert.match((await leaf({ ip, mask: 23, prefix_length: 24 }))!, /^! .* do not agree/);
  assert.equal(await leaf({ ip, type: 'url' }), '- the type url is no address');
  assert.match((await leaf({ ip, RuleAction: 'allow' }))!, /^- its verdict is allow/);
  assert.equal(await leaf({ ip, enabled: false }), '- not enabled');
  assert.match((await leaf({ ip, expires: 'soon' }))!, /^! "soon" in "expires"/);
  // Other addresses and descriptions there are of no concern.
  assert.equal(await leaf({ ip, ipv6: '2001:db8::1', gateway: '203.0.113.9', confidence: 'x', value: 'y', network: '203.0.113.0/24' }), ip);
  assert.equal(await leaf({ value: ip, asn: 64500, country: 'NL' }, '[].value'), ip);
  assert.equal(await leaf({ ip, start: '2026-01-01', end: '2026-01-02', valid_from_date: '2026-01-01', release_date: '2026-01-01' }), ip);
  assert.equal(await leaf({ asn: 64500, cc: 'NL' }, '[].asn'), 'AS64500');
  const waf = { mode: 'whitelist', configuration: { target: 'ip', value: ip } };
  assert.match((await leaf(waf, '[].configuration.value'))!, /^- its verdict is whitelist/);
  assert.match((await leaf(waf, '[].configuration'))!, /^- its verdict is whitelist/);
  assert.equal(await leaf({ ...waf, mode: 'block' }, '[].configuration.value'), ip);
  assert.match((await leaf({ action: 'allow', ips: [ip] }, '[].ips[]'))!, /^- its verdict is allow/);
});
