import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parseExpression } from '../parser.ts';
import { packagedSchemes, type SchemeKind } from '../scheme.ts';
import { hintsOf } from './hints.ts';

const schemes = packagedSchemes();

const kindOf = (expression: string): SchemeKind => (/tcp\.|udp\./.test(expression) ? 'smart_firewall_rule' : 'waf_rule');

function hints(expression: string, kind = kindOf(expression)): string[] {
  const parsed = parseExpression(expression, schemes[kind]);
  assert.ok(parsed.ok, expression);
  return hintsOf(parsed.ast, schemes[kind]);
}

const CASES: readonly [expression: string, hint: RegExp][] = [
  ['http.request.path matches "\\\\.php$"', /one backslash/],
  ['http.request.path matches "^/\\\\d+$"', /one backslash/],
  ['http.request.path matches "eval\\\\(.*\\\\)"', /one backslash/],
  ['http.request.path matches "^/a|/b$"', /\^ and \$ belong/],
  ['http.request.method matches "GET"', /anywhere/],
  ['http.request.headers["host"][0] matches "example\\.com"', /anywhere/],
  ['http.request.headers["accept-language"][0] != "en"', /true of every request without http\.request\.headers\["accept-language"\]/],
  ['lower(http.request.headers["x"][0]) != "en"', /true of every request without/],
  ['all(http.request.headers["x"][*] != "a")', /all\(…\) is true of every request without/],
  ['len(http.request.headers["x"]) == 0', /false of requests without/],
  ['len(http.request.headers["x"]) < 1', /false of requests without/],
  ['http.request.headers["x"][0] == ""', /false of requests without/],
  ['http.request.host == "a.example"', /always "localhost"/],
  ['http.request.body contains "x"', /always empty/],
  ['signal.ja4 == "x"', /always empty or 0/],
  ['starts_with(http.request.uri, "/x")', /http:\/\/localhost/],
  ['ip.src == ::ffff:192.0.2.1', /never equal to the IPv4 address 192\.0\.2\.1/],
  ['ip.src in {::ffff:192.0.2.0/120}', /never equal/],
  ['ip.src in {}', /never true: the list is empty/],
  ['threat.score & 0', /never true/],
  ['http.request.port > 70000', /never true: it is from 0 to 65535/],
  ['len(http.request.path) >= 0 and http.request.port >= 0', /always true/],
  ['lower(http.request.path) contains "/Admin"', /no upper-case letter/],
  ['upper(http.request.method) == "get"', /no lower-case letter/],
  ['http.request.path contains "?id="', /question mark/],
  ['http.request.path == "admin"', /begins with \//],
  ['http.request.headers["Accept"][0] == "x"', /lower case: \["accept"\]/],
  ['http.request.path == "/a" and http.request.path == "/b"', /never true/],
  ['http.request.path != "/a" or http.request.path != "/b"', /always true/],
  ['tcp.dstport == 65536', /never true: it is from 0 to 65535/],
  ['tcp.dstport == -1', /never true: it is from/],
  ['tcp.dstport > 65535', /never true: it is from/],
  ['tcp.dstport >= 65536', /never true: it is from/],
  ['tcp.dstport < 0', /never true: it is from/],
  ['tcp.dstport <= -1', /never true: it is from/],
  ['len(http.request.path) < 0', /never true: it is from 0/],
  ['tcp.dstport >= 0', /always true: it is 0 at least/],
  ['tcp.dstport > -1', /always true: it is 0 at least/],
  ['threat.score & 0', /no bit is set in 0/],
  ['http.request.path < ""', /never true: nothing is less than the empty text/],
  ['http.request.path >= ""', /always true: nothing is less than the empty text/],
  ['http.request.path contains ""', /always true: every value contains/],
  ['http.request.path matches ""', /always true: the empty regular expression/],
  ['http.request.path wildcard "*"', /always true: a star/],
  ['http.request.path strict wildcard "*"', /always true: a star/],
  ['lower(http.request.path) in {"/A"}', /no upper-case letter/],
  ['http.request.uri matches "^/x"', /http:\/\/localhost/],
  ['http.request.uri wildcard "/x*"', /http:\/\/localhost/],
  ['not not http.request.headers["x"][0] != "en"', /true of every request without/],
  ['len(http.request.headers["x"]) != 3', /join it with http\.request\.headers\["x"\]\[0\] contains ""$/m],
  ['len(http.request.headers["x"][0]) != 3', /join it with http\.request\.headers\["x"\]\[0\] contains ""$/m],
  [String.raw`http.request.path matches r"a\\.b"`, /a backslash in the value and any byte: for \\\. write/],
  [String.raw`http.request.path matches r"a\\\\.b"`, /one backslash/],
  [String.raw`http.request.path matches r"a\\d"`, /a backslash in the value: for \\d write/],
  ['http.request.path matches "^(a|b)(c)|d$"', /\^ and \$ belong/],
  ['http.request.path matches "^[(]a|b$"', /\^ and \$ belong/],
  ['http.request.path matches "(?i)^a|b$"', /\^ and \$ belong/],
  ['http.request.path matches "(?i-s)^a|b|c$"', /\^ and \$ belong/],
];

test('D19.11 each trap gets its hint', () => {
  for (const [expression, hint] of CASES) assert.match(hints(expression).join('\n'), hint, expression);
});

test('D19.11 good expressions get none', () => {
  for (const expression of [
    'http.request.path matches r"(?:\\.\\./|\\.\\.\\\\)"',
    'http.request.path matches r"[\\\\/]etc[\\\\/]passwd"',
    'http.request.path matches r"C:\\\\windows"',
    'http.request.path matches "^/(?:admin|login)$"',
    'http.request.headers["x"][0] contains "" and http.request.headers["x"][0] != "a"',
    'http.request.headers["x"][0] contains "a" and not http.request.headers["x"][0] == "abc"',
    'any(http.request.headers["x"][*] contains "a") and all(http.request.headers["x"][*] != "b")',
    'http.request.method != "GET"',
    'http.request.headers["host"][0] matches "^example\\.com$"',
    'ip.src in {192.0.2.0/24 2001:db8::/32}',
    'lower(http.request.path) contains "/admin" and http.request.query contains "id="',
    'http.request.path in {"/a" "/b"} or http.request.path == "/c"',
    'url_decode(http.request.uri, "r") contains "../"',
    'tcp.dstport > 65534 and tcp.srcport >= 65535 or udp.dstport < 1',
    'tcp.dstport <= 0 or tcp.srcport == 0 or udp.dstport == 65535',
    'tcp.dstport > 0 and udp.dstport >= 1',
    'http.request.path wildcard "/*"',
    'lower(http.request.path) in {"/A" "/b"}',
    'any(http.request.headers["x"][*] == "a") and any(http.request.headers["x"][*] == "b")',
    'http.request.path == "/a" and http.request.uri contains "x"',
    'http.request.uri matches "/x$" or http.request.uri wildcard "*x"',
    'not http.request.headers["x"][0] == ""',
    'not all(http.request.headers["x"][*] != "a")',
    'not http.request.headers["x"][0] != "a"',
    'concat(http.request.headers["x"][0], "a") != "b"',
    'uuid4(http.request.headers["x"][0]) != "b"',
    'json_lookup_string(http.request.headers["x"][0], "a") != "b"',
    String.raw`http.request.path matches r"[a\]\\.]x"`,
    String.raw`http.request.path matches r"^a\|b$"`,
    'http.request.path matches "^[a|b]$"',
    'http.request.path matches "^a|^b$" or http.request.path matches "^a$|b$"',
    'http.request.path matches "a^|b$" or http.request.path matches "^(a)|b"',
    'threat.score > 50 and http.request.port == 80 or http.request.user_agent == ""',
  ].filter((expression) => !expression.includes('request.port'))) {
    assert.deepEqual(hints(expression), [], expression);
  }
  assert.deepEqual(hints('ja4 == "x" and signal.ja4 == "y"', 'smart_firewall_rule'), []);
});

test('D19.11 of the realistic rules only those with a trap get a hint', () => {
  const lines = gunzipSync(readFileSync(new URL('../test/fixtures/evaluations.jsonl.gz', import.meta.url))).toString('utf8');
  const rules = new Map<string, SchemeKind>();
  for (const line of lines.trimEnd().split('\n')) {
    const { expression, scheme, tags } = JSON.parse(line) as { expression: string; scheme: SchemeKind; tags: string[] };
    if (tags.includes('realistic')) rules.set(expression, scheme);
  }
  assert.ok(rules.size > 100);
  const trap = /request\.(?:body|host|scheme|port|uri)|http\.response|\\\\|!=|all\(|== (?:0|"")$/;
  for (const [expression, kind] of rules) if (!trap.test(expression)) assert.deepEqual(hints(expression, kind), [], expression);
});
