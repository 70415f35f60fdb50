import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpression } from './parser.ts';
import { packagedSchemes, type SchemeKind } from './scheme.ts';

function faultOf(kind: SchemeKind, text: string): string {
  const result = parseExpression(text, packagedSchemes()[kind]);
  return result.ok ? 'accepted' : result.fault.text;
}

test('4.2 HTTP fields in a smart firewall rule: the message says why not', () => {
  const expected = '"http.request.path" cannot be used in smart firewall rules: HTTP fields do not exist before a connection is made';
  assert.equal(faultOf('smart_firewall_rule', 'http.request.path == "/"'), expected);
  assert.equal(faultOf('smart_firewall_rule', 'tcp.dstport == 80 and lower(http.request.path) == "/"'), expected);
  assert.match(faultOf('smart_firewall_rule', 'http.no_such_field == 1'), /HTTP fields do not exist/);
  assert.equal(faultOf('smart_firewall_rule', 'signal.sni == "http.request.path"'), 'accepted');
});

test('4.2 a field of the other kind: the message says so', () => {
  assert.equal(faultOf('waf_rule', 'tcp.dstport == 80'), '"tcp.dstport" is a field of smart firewall rules, not of WAF rules');
});

test('4.2 names of other engines and near misses get a suggestion', () => {
  const suggestions: Record<string, string> = {
    'http.host': 'http.request.host',
    'http.request.uri.path': 'http.request.path',
    'http.user_agent': 'http.request.user_agent',
    'http.cookie': 'http.request.headers["cookie"][0]',
    'ip.geoip.country': 'ip.src.country',
    'ip.src.asnum': 'ip.src.asn',
    'cf.threat_score': 'threat.score',
    'http.request.pth': 'http.request.path',
    'HTTP.Request.Path': 'http.request.path',
    'http.request.headers.accept': 'http.request.headers["accept"]',
    'http.request.path.foo': 'http.request.path',
    path: 'http.request.path',
    threat: 'threat.score',
    starts_wth: 'starts_with',
    uuidv4: 'uuid4',
  };
  for (const [name, suggestion] of Object.entries(suggestions)) {
    assert.equal(faultOf('waf_rule', `${name} == 1`), `unknown field or function "${name}"; did you mean ${suggestion}?`);
  }
  assert.equal(faultOf('smart_firewall_rule', 'tcp.port == 80'), 'unknown field or function "tcp.port"; did you mean tcp.dstport?');
});

test('4.2 a name like nothing gets no suggestion, and a long one is cut', () => {
  assert.equal(faultOf('waf_rule', 'weather == 1'), 'unknown field or function "weather"');
  assert.ok(faultOf('waf_rule', 'x'.repeat(4000)).length < 100);
});

test('4.2 words that are no names get a hint', () => {
  assert.match(faultOf('waf_rule', 'true'), /no literal "true"/);
  assert.match(faultOf('waf_rule', 'NOT threat.score == 1'), /lower case/);
  assert.match(faultOf('waf_rule', 'threat.score == 1 and and threat.score == 2'), /found the operator "and"/);
  assert.match(faultOf('waf_rule', 'any'), /needs parentheses/);
  assert.match(faultOf('waf_rule', 'threat.score == 1\tand threat.score == 2'), /tab/);
  assert.match(faultOf('waf_rule', 'threat.score == 50and threat.score == 2'), /space is missing/);
  assert.match(faultOf('waf_rule', 'threat.score in {1, 2}'), /not commas/);
  assert.match(faultOf('waf_rule', 'http.request.path == http.request.uri'), /right side must be a literal/);
  assert.match(faultOf('waf_rule', 'ip.src == 10.0.0.0/8'), /braces/);
  assert.match(
    faultOf('waf_rule', 'any(http.request.headers["a"][*] == "x" or http.request.headers["b"][*] == "y")'),
    /parentheses of their own/,
  );
});
