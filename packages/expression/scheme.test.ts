import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpression } from './parser.ts';
import { loadSchemes, packagedSchemes, type Schemes } from './scheme.ts';

const KINDS = Object.keys(packagedSchemes());
const EXPECTED = `${KINDS.map((kind) => `"${kind}"`).join(', ')} or "functions"`;

function load(json: unknown): Schemes {
  const schemes = loadSchemes(json);
  if (Array.isArray(schemes)) assert.fail(schemes.join('\n'));
  return schemes;
}

test('2.4 the packaged schemes hold both kinds', () => {
  const { waf_rule: waf, smart_firewall_rule: smart } = packagedSchemes();
  assert.ok(waf.names.has('http.request.path') && !smart.names.has('http.request.path'));
  assert.ok(smart.names.has('tcp.dstport') && !waf.names.has('tcp.dstport'));
  assert.ok(waf.names.has('lower') && smart.names.has('lower'));
  assert.ok(!waf.names.has('any'), 'any belongs to the grammar');
});

test('2.4 a scheme file adds fields and functions, per kind', () => {
  const schemes = load({
    waf_rule: { 'bot.score': { type: 'Int' }, 'http.response.size': { type: 'Int', phase: 'response' } },
    functions: [
      { name: 'sha256', args: ['field Bytes'], returns: 'Bytes', kind: 'waf_rule' },
      { name: 'split', args: ['field Bytes', 'literal Bytes'], returns: 'Array(Bytes)' },
    ],
  });
  const waf = parseExpression('bot.score > 30 and sha256(http.request.path) == "x" and http.response.size > 1', schemes.waf_rule);
  assert.ok(waf.ok);
  assert.equal(waf.phase, 'response');
  assert.ok(parseExpression('any(split(signal.sni, ".")[*] == "x")', schemes.smart_firewall_rule).ok);
  assert.ok(!parseExpression('sha256(signal.sni) == "x"', schemes.smart_firewall_rule).ok);
  assert.ok(!parseExpression('bot.score > 30', schemes.smart_firewall_rule).ok);
});

test('2.4 a scheme file replaces fields and functions', () => {
  const schemes = load({
    waf_rule: { 'threat.score': { type: 'Bytes' } },
    functions: [{ name: 'lower', args: ['field Int'], returns: 'Int' }],
  });
  assert.ok(parseExpression('threat.score == "high" and lower(http.request.port) == 1', schemes.waf_rule).ok);
  assert.ok(parseExpression('threat.score == 1', schemes.smart_firewall_rule).ok, 'the other kind keeps its own');
  assert.ok(parseExpression('threat.score == 1', packagedSchemes().waf_rule).ok, 'the packaged schemes stay as they are');
});

test('2.4 with HTTP fields of its own a smart firewall scheme speaks of unknown names', () => {
  const { smart_firewall_rule: smart } = load({ smart_firewall_rule: { 'http.alpn': { type: 'Bytes' } } });
  const result = parseExpression('http.alpm == "x"', smart);
  assert.equal(!result.ok && result.fault.text, 'unknown field or function "http.alpm"; did you mean http.alpn?');
});

test('2.4 faults of a scheme file come as readable lines', () => {
  const faults = loadSchemes({
    access_rule: {},
    waf_rule: { x: { type: 'Float' }, '9lives': { type: 'Int' }, notable: { type: 'Int' }, y: 'Int', z: { type: 'Int', phase: 'later' } },
    smart_firewall_rule: [],
    functions: [
      { name: 'f', args: ['field Byte'], returns: 'Int' },
      { name: 'g', args: ['[literal Int]', 'field Int'], returns: 'Int' },
      { name: 'h', args: [], returns: 'type of first' },
      7,
      { name: 'i', args: [], returns: 'Int', kind: 'access_rule' },
    ],
  });
  assert.deepEqual(faults, [
    `access_rule: unknown; expected ${EXPECTED}`,
    'waf_rule.x: "Float" is no type; expected Bool, Int, Ip, Bytes, Array(…) or Map(…)',
    'waf_rule.9lives: a name is letters, digits and "_" in parts joined by ".", and begins with no digit',
    'waf_rule.notable: a name that begins with "not" would be read as a negation',
    'waf_rule.y: must be an object with a "type"',
    'waf_rule.z: phase must be one of: request, response',
    'smart_firewall_rule: must be an object of fields by name',
    'functions[0]: f: argument 0 "field Byte" has an unknown type',
    'functions[1]: g: argument 1 is mandatory behind an optional one',
    'functions[2]: h: "type of first" is no type to return',
    'functions[3]: must be an object with "name", "args" and "returns"',
    `functions[4]: kind must be one of: ${KINDS.join(', ')}`,
  ]);
  assert.deepEqual(loadSchemes(null), [`a scheme file must be an object with ${EXPECTED}`]);
});

test('2.4 types that no packaged field has are understood', () => {
  const { waf_rule: waf } = load({
    waf_rule: { flags: { type: 'Array(Bool)' }, named: { type: 'Map(Bool)' }, grid: { type: 'Array(Array(Bool))' } },
  });
  // The engine looks at the type of the elements only: `any(grid[*])` is good, `any(flags[*])` is not.
  const valid = [
    'any(flags)',
    'any(grid[*])',
    'flags[0]',
    'named["a"]',
    'any((named[*]))',
    'any((flags and not flags))',
    'any(grid[0])',
    'any(concat(flags, flags))',
  ];
  const faulty = [
    'flags',
    'any(flags[*])',
    'named',
    'named and named',
    'any(named)',
    'any((grid[*]))',
    'flags == 1',
    'flags and threat.score == 1',
  ];
  assert.deepEqual(
    valid.filter((text) => !parseExpression(text, waf).ok),
    [],
  );
  assert.deepEqual(
    faulty.filter((text) => parseExpression(text, waf).ok),
    [],
  );
});
