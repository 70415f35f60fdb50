import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTarget } from '../signal/target.ts';
import { CATALOGUE, findCatalogue, leastInterval } from './catalogue.ts';
import { readContent } from './readers/content.ts';
import { readCondition, readPath } from './readers/paths.ts';

/** What stands behind each address, in its shape, and the entries that it has. */
const drop = (...networks: string[]) =>
  [
    ...networks.map((cidr) => JSON.stringify({ cidr, sblid: 'SBL1', rir: 'arin' })),
    `{"type":"metadata","records":${networks.length}}`,
    '',
  ].join('\n');
const netset = (...networks: string[]) =>
  [`#\n# firehol\n#\n# ipv4 hash:net ipset\n#\n# Entries : ${networks.length}\n#`, ...networks, ''].join('\n');
const lines = (...entries: string[]) => `${entries.join('\n')}\n`;
const prefixes = (...of: object[]) => JSON.stringify({ syncToken: '1', creationTime: 'x', prefixes: of }, null, 2);
const aws = prefixes(
  { ip_prefix: '192.0.2.0/24', region: 'GLOBAL', service: 'CLOUDFRONT' },
  { ip_prefix: '198.51.100.0/24', region: 'GLOBAL', service: 'ROUTE53_HEALTHCHECKS' },
  { ip_prefix: '203.0.113.0/24', region: 'x', service: 'EC2' },
).replace(
  /}$/,
  `, "ipv6_prefixes": [{"ipv6_prefix": "2001:db8::/32", "service": "CLOUDFRONT"}, {"ipv6_prefix": "2001:db8:1::/48", "service": "ROUTE53_HEALTHCHECKS"}]}`,
);
const google = prefixes({ ipv4Prefix: '192.0.2.0/27' }, { ipv6Prefix: '2001:db8::/64' });

const SAMPLES: Readonly<Record<string, readonly [text: string, ...entries: string[]]>> = {
  'spamhaus-drop': [drop('192.0.2.0/24', '198.51.100.0/22').replaceAll('/', '\\/'), '192.0.2.0/24', '198.51.100.0/22'],
  'spamhaus-drop-v6': [drop('2001:db8::/32'), '2001:db8::/32'],
  'spamhaus-asn-drop': [
    '{"asn":64500,"rir":"arin","domain":"a.example","cc":"US","asname":"A"}\n{"type":"metadata","records":1}\n',
    'AS64500',
  ],
  'firehol-level1': [netset('10.0.0.0/8', '224.0.0.0/3', '192.0.2.1'), '10.0.0.0/8', '224.0.0.0/3', '192.0.2.1'],
  'firehol-level2': [netset('192.0.2.1'), '192.0.2.1'],
  'firehol-level3': [netset('192.0.2.0/24', '198.51.100.1'), '192.0.2.0/24', '198.51.100.1'],
  feodo: ['################\r\n# abuse.ch Feodo Tracker Botnet C2 IP Blocklist\r\n# END 0 entries\r\n'],
  'dshield-block': [
    '# DShield.org\n#\nStart\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n192.0.2.0\t192.0.2.255\t24\t812\tX\tUS\ta@example.net\n',
    '192.0.2.0/24',
  ],
  'emerging-block': ['# Spamhaus\n192.0.2.0/24\n\n#Dshield Top Attackers\n198.51.100.0/24\n', '192.0.2.0/24', '198.51.100.0/24'],
  'emerging-compromised': [lines('192.0.2.1', '192.0.2.2'), '192.0.2.1', '192.0.2.2'],
  cins: [lines('192.0.2.1', '198.51.100.2'), '192.0.2.1', '198.51.100.2'],
  'blocklist-de': [lines('192.0.2.1', '2001:db8::1'), '192.0.2.1', '2001:db8::1'],
  'ipsum-3': [lines('192.0.2.1', '192.0.2.2'), '192.0.2.1', '192.0.2.2'],
  'ipsum-5': [lines('192.0.2.1'), '192.0.2.1'],
  'tor-exits': [lines('192.0.2.1'), '192.0.2.1'],
  'cloudflare-v4': ['192.0.2.0/20\n198.51.100.0/22', '192.0.0.0/20', '198.51.100.0/22'],
  'cloudflare-v6': ['2001:db8::/32\n2001:db8:8000::/34', '2001:db8::/32', '2001:db8:8000::/34'],
  'aws-cloudfront': [aws, '192.0.2.0/24', '2001:db8::/32'],
  'aws-health-checks': [aws, '198.51.100.0/24', '2001:db8:1::/48'],
  googlebot: [google, '192.0.2.0/27', '2001:db8::/64'],
  'google-services': [google, '192.0.2.0/27', '2001:db8::/64'],
  fastly: ['{"addresses":["192.0.2.0/24"],"ipv6_addresses":["2001:db8::/32"]}', '192.0.2.0/24', '2001:db8::/32'],
  'github-hooks': [
    '{"verifiable_password_authentication":false,"ssh_keys":["x"],"hooks":["192.0.2.0/22","2001:db8::/29"],"web":["198.51.100.0/24"]}',
    '192.0.0.0/22',
    '2001:db8::/29',
  ],
  'oracle-services': [
    '{"last_updated_timestamp":"x","regions":[{"region":"a","cidrs":[{"cidr":"192.0.2.0/24","tags":["OCI"]},{"cidr":"198.51.100.0/24","tags":["OSN"]}]}]}',
    '198.51.100.0/24',
  ],
  'zscaler-hubs': ['{"hubPrefixes":["192.0.2.0/23","2001:db8::/40"]}', '192.0.2.0/23', '2001:db8::/40'],
};

for (const { name, url, paths = [], condition } of CATALOGUE)
  test(`D23.40 ${name} is read as its row says`, async () => {
    assert.ok(Object.hasOwn(SAMPLES, name), `a sample in the shape of ${url} stands in this test`);
    const [text, ...entries] = SAMPLES[name]!;
    const reading = {
      file: new URL(url).pathname,
      paths: paths.map(readPath),
      condition: condition === undefined ? undefined : readCondition(condition),
    };
    const pieces = async function* () {
      yield Buffer.from(text);
    };
    const read = await readContent(pieces(), reading, { action: 'block', expiresIn: undefined, reason: undefined, labels: {} });
    assert.ok('entries' in read);
    const found = [];
    for await (const each of read.entries) {
      assert.ok('entry' in each, JSON.stringify(each));
      found.push(formatTarget(each.entry.target));
    }
    assert.deepEqual(found, entries);
  });

test('D23.40 every row has a name that a list may have, an address with TLS, terms, and is not asked for more often than its host allows', () => {
  assert.equal(new Set(CATALOGUE.map(({ name }) => name)).size, CATALOGUE.length);
  for (const { name, url, every, least, title, terms, size } of CATALOGUE) {
    assert.match(name, /^[a-z][a-z0-9-]{2,40}$/);
    assert.equal(new URL(url).protocol, 'https:', name);
    assert.ok(least >= 300 && every >= leastInterval(new URL(url))! && every >= least, name);
    assert.match(size?.join() ?? '1,2026-09', /^[1-9]\d*,20\d\d-(?:0[1-9]|1[012])$/, name);
    assert.ok(title.length > 10 && /\.$/.test(terms), name);
  }
  assert.equal(findCatalogue('spamhaus-drop')?.purpose, 'block');
  assert.equal(findCatalogue('nothing'), undefined);
});

test('D44.6 lists of hosts have no network wider than /24 and /48, and no list more than it is known to have', () => {
  const least = (name: string) => [findCatalogue(name)!.minPrefixV4, findCatalogue(name)!.minPrefixV6];
  for (const hosts of ['feodo', 'cins', 'blocklist-de', 'ipsum-3', 'ipsum-5', 'tor-exits', 'emerging-compromised', 'dshield-block'])
    assert.deepEqual(least(hosts), [24, 48], hosts);
  // FireHOL level 1 has 224.0.0.0/3, DROP a /12, CloudFront /14 and /28, Google /10 and /28, GitHub /20 and /29.
  const widest = {
    'firehol-level1': [3, 128],
    'spamhaus-drop': [12, 128],
    'aws-cloudfront': [14, 28],
    'google-services': [10, 28],
    'github-hooks': [20, 29],
  };
  for (const [name, [v4, v6]] of Object.entries(widest)) assert.ok(least(name)[0]! <= v4! && least(name)[1]! <= v6!, name);
});
