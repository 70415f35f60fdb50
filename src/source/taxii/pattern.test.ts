import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksOfPattern } from './pattern.ts';

const TAKEN: readonly (readonly [pattern: string, ...networks: string[]])[] = [
  ["[ipv4-addr:value = '192.0.2.1']", '192.0.2.1'],
  ["[ipv4-addr:value='192.0.2.77/24']", '192.0.2.0/24'],
  ["[ipv4-addr:value ISSUBSET '192.0.2.0/24']", '192.0.2.0/24'],
  ["[ipv4-addr:value IN ('192.0.2.1', '192.0.2.2')]", '192.0.2.1', '192.0.2.2'],
  ["[ipv6-addr:value = '2001:DB8::1' OR ipv4-addr:value == '192.0.2.1']", '2001:db8::1', '192.0.2.1'],
  ["[ipv4-addr:value = '192.0.2.1'] OR [ipv4-addr:value = '192.0.2.2']", '192.0.2.1', '192.0.2.2'],
  ["([ipv4-addr:value = '192.0.2.1'] OR ([(ipv4-addr:value = '192.0.2.2')]))", '192.0.2.1', '192.0.2.2'],
  ["[network-traffic:src_ref.value = '192.0.2.1' OR network-traffic:dst_ref.value = '2001:db8::/32']", '192.0.2.1', '2001:db8::/32'],
  ["[ipv4-addr:value = '192.0.2.1' /* a comment ' */ ] // and another\n", '192.0.2.1'],
];
const DST = (type: string, value: string) => `network-traffic:dst_ref.type = '${type}' AND network-traffic:dst_ref.value = '${value}'`;
const MISP: typeof TAKEN = [
  [`[${DST('ipv4-addr', '198.51.100.2')}]`, '198.51.100.2'],
  ["[network-traffic:src_ref.value = '2001:db8::/32' AND network-traffic:src_ref.type = 'ipv6-addr']", '2001:db8::/32'],
  [`[${DST('ipv4-addr', '192.0.2.1')}] OR [${DST('ipv6-addr', '2001:db8::1')}]`, '192.0.2.1', '2001:db8::1'],
  [
    `[(${DST('ipv4-addr', '192.0.2.1')}) OR (${DST('ipv4-addr', '192.0.2.2')}) OR ipv4-addr:value = '192.0.2.3']`,
    '192.0.2.1',
    '192.0.2.2',
    '192.0.2.3',
  ],
  [
    "[network-traffic:dst_ref.type = 'ipv4-addr' AND (network-traffic:dst_ref.value IN ('192.0.2.1', '192.0.2.2'))]",
    '192.0.2.1',
    '192.0.2.2',
  ],
];
for (const [pattern, ...networks] of MISP)
  test(`D41.20 taken: ${pattern}`, () => assert.deepEqual(networksOfPattern(pattern), { networks, passed: [] }));
for (const [pattern, reason] of [
  [DST('ipv6-addr', '192.0.2.1'), 'a value of the other family'],
  [DST('domain-name', 'a.example'), 'another object: domain-name'],
  [DST('constructor', '192.0.2.1'), 'another object: constructor'],
  ["network-traffic:dst_ref.type = 'ipv4-addr'", 'a type without an address'],
  [`${DST('ipv4-addr', '192.0.2.1')} AND network-traffic:dst_port = 443`, 'AND: an address together with something else'],
  [`${DST('ipv4-addr', '192.0.2.1')} AND network-traffic:src_ref.value = '192.0.2.2'`, 'AND: an address together with something else'],
  [
    "network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:src_ref.value = '192.0.2.1'",
    'AND: an address together with something else',
  ],
  [`network-traffic:dst_ref.type != 'ipv6-addr' AND network-traffic:dst_ref.value = '192.0.2.1'`, 'the operator !='],
  [`${DST('ipv4-addr', '192.0.2.1')} AND domain-name:value = 'a.example'`, 'AND: an address together with something else'],
  [
    `${Array.from({ length: 14 }, () => "(network-traffic:dst_ref.value IN ('192.0.2.1', '192.0.2.2'))").join(' AND ')}`,
    'a pattern with too many alternatives',
  ],
] as const)
  test(`D41.20 passed over: ${pattern.slice(0, 120)}`, () =>
    assert.deepEqual(networksOfPattern(`[${pattern}]`), { networks: [], passed: [reason] }));

for (const [pattern, ...networks] of TAKEN)
  test(`D23.32 taken: ${pattern.trim()}`, () => assert.deepEqual(networksOfPattern(pattern), { networks, passed: [] }));

const A = "ipv4-addr:value = '192.0.2.1'";
const PASSED: readonly (readonly [pattern: string, reason: RegExp])[] = [
  [`[${A} AND network-traffic:dst_port = 443]`, /^AND: /],
  [`[network-traffic:dst_port = 443 AND ${A}]`, /^AND: /],
  [`[${A}] AND [${A}]`, /^AND: /],
  [`[${A} OR (${A} AND ${A})]`, /^AND: /],
  [`[${A}] FOLLOWEDBY [${A}]`, /^FOLLOWEDBY: /],
  [`[${A}] WITHIN 300 SECONDS`, /^WITHIN: /],
  [`([${A}]) REPEATS 5 TIMES`, /^REPEATS: /],
  [`[${A}] START t'2026-01-01T00:00:00Z' STOP t'2027-01-01T00:00:00Z'`, /^START: /],
  ["[NOT ipv4-addr:value = '192.0.2.1']", /^NOT: /],
  ["[ipv4-addr:value NOT = '192.0.2.1']", /^NOT: /],
  ["[ipv4-addr:value NOT IN ('192.0.2.1')]", /^NOT: /],
  ['[EXISTS ipv4-addr:value]', /^EXISTS: /],
  ...["!= '192.0.2.1'", "LIKE '192.0.2.%'", "MATCHES '192.*'", "ISSUPERSET '192.0.2.0/24'", "<> '192.0.2.1'"].map(
    (rest) => [`[ipv4-addr:value ${rest}]`, /^the operator /] as const,
  ),
  ["[domain-name:value = 'example.com']", /^another object: domain-name$/],
  ["[ipv4-addr:resolves_to_refs[*].value = '192.0.2.1']", /^another object: ipv4-addr$/],
  ["[file:hashes.'SHA-256' = 'aa']", /^another object: file$/],
  ["[ipv4-addr:value = '2001:db8::1']", /^a value of the other family$/],
  ["[ipv6-addr:value = '::ffff:0:0/96']", /^a value that is no network$/],
  ["[ipv4-addr:value = '192.0.2.1:80']", /^a value that is no network$/],
  ["[ipv4-addr:value = 'don\\'t']", /^a value that is no network$/],
  ['[ipv4-addr:value = 192]', /^a pattern that cannot be read$/],
  ...[
    '',
    '[',
    ']',
    '[]',
    '()',
    `[${A}`,
    `${A}`,
    `[${A}] OR`,
    `[${A} OR]`,
    `[${A}] [${A}]`,
    "[ipv4-addr:value IN '192.0.2.1']",
    "[ipv4-addr:value = '192",
    '[constructor:value = 1',
  ].map((pattern) => [pattern, /^a pattern that cannot be read$|^another object: constructor$/] as const),
  [`${'('.repeat(10_000)}[${A}]`, /^a pattern with too many parentheses$/],
  [`[${`${A} OR `.repeat(10_000)}${A}]`, /^a pattern that is too long$/],
];
for (const [pattern, reason] of PASSED)
  test(`D23.32 passed over: ${pattern.slice(0, 80)}`, () => {
    const found = networksOfPattern(pattern);
    assert.deepEqual(found.networks, []);
    assert.equal(found.passed.length, 1);
    assert.match(found.passed[0]!, reason);
  });

test('D23.32 what is never closed is read in one go, however often it begins', () => {
  for (const piece of ["\\'", '/*', "'", '[(', "ipv4-addr:value='"]) {
    const began = performance.now();
    networksOfPattern(`[${A} OR ${piece.repeat(99_900 / piece.length)}\\`);
    assert.ok(performance.now() - began < 2000, piece);
  }
});

test('D23.32 an alternative that is another object leaves the address beside it', () => {
  const found = networksOfPattern("[domain-name:value = 'a.example' OR ipv4-addr:value = '192.0.2.1' OR url:value = 'x']");
  assert.deepEqual(found, { networks: ['192.0.2.1'], passed: ['another object: domain-name', 'another object: url'] });
});
