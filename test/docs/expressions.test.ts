import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { faultExcerpt, faultLine } from '@weir/expression/fault.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import { loadSchemes, packagedSchemes } from '@weir/expression/scheme.ts';

const page = readFileSync(new URL('../../docs/expressions.md', import.meta.url), 'utf8');
const packaged = JSON.parse(readFileSync(new URL(import.meta.resolve('@weir/expression/schemes.json')), 'utf8'));
const schemes = packagedSchemes();

/** The rows of the table below a heading, cell by cell. */
function table(heading: string): string[][] {
  const section = page.split(`${heading}\n`)[1].split(/\n#/)[0];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', '').replaceAll('\\|', '|')),
  );
}

const fields = (kind: 'waf_rule' | 'smart_firewall_rule') =>
  [...schemes[kind].names.values()].filter((definition) => definition.kind === 'field').map(({ name, type }) => `${name} ${type.text}`);

test('2.4 the page lists every field with its type', () => {
  const listed = (heading: string) => table(heading).map(([name, type]) => `${name} ${type}`);
  const both = listed('### Of both kinds');
  assert.deepEqual([...both, ...listed('### Of WAF rules only')].sort(), fields('waf_rule').sort());
  assert.deepEqual([...both, ...listed('### Of smart firewall rules only')].sort(), fields('smart_firewall_rule').sort());
});

test('2.4 the page lists the phase of every WAF field', () => {
  const response = table('### Of WAF rules only').filter(([, , phase]) => phase === 'response');
  const expected = [...schemes.waf_rule.names.values()].filter(
    (definition) => definition.kind === 'field' && definition.phase === 'response',
  );
  assert.deepEqual(response.map(([name]) => name).sort(), expected.map(({ name }) => name).sort());
});

test('2.4 the page lists every function with its arguments', () => {
  const expected = packaged.functions
    .filter(({ name }: { name: string }) => name !== 'any' && name !== 'all')
    .map(({ name, args, returns }: { name: string; args: string[]; returns: string }) => [name, args.join(', '), returns]);
  assert.deepEqual(table('## Functions'), expected);
});

test('2.4 the examples of the page are what it says', () => {
  const blocks = [...page.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, text]) => ({ language, text }));
  const [first, fault, arrays] = blocks;
  const json = blocks.find(({ language }) => language === 'json')!;
  for (const text of [...first.text.trim().split('\n'), ...arrays.text.trim().split('\n')]) {
    const kind = text.startsWith('tcp.') ? 'smart_firewall_rule' : 'waf_rule';
    assert.ok(parseExpression(text, schemes[kind]).ok, text);
  }
  const wrong = 'http.request.path ends_with ".html"';
  const result = parseExpression(wrong, schemes.waf_rule);
  assert.equal(!result.ok && `${faultLine(result.fault)}\n${faultExcerpt(wrong, result.fault)}\n`, fault.text);
  assert.ok(!Array.isArray(loadSchemes(JSON.parse(json.text))));
});
