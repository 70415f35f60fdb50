/** What the field for an expression offers: by the word at the caret, with the names of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import { type ExpressionName, expressionNames } from '../../src/manage/operations/expressions.ts';

interface Completion {
  readonly from: number;
  readonly to: number;
  readonly names: ExpressionName[];
}
interface NamesAt {
  completionAt(text: string, caret: number, known: readonly ExpressionName[], all?: boolean): Completion | undefined;
  completed(text: string, completion: Completion, name: ExpressionName): { text: string; caret: number };
  typesOf(name: ExpressionName): string;
}
const { completionAt, completed, typesOf } = (await import(
  new URL('../../packages/console/pages/rules/names-at.js', import.meta.url).href
)) as NamesAt;

const WAF = expressionNames(packagedSchemes().waf_rule);
/** `|` is the caret. */
const offered = (text: string, all = false) =>
  completionAt(text.replace('|', ''), text.indexOf('|'), WAF, all)?.names.map(({ name }) => name);

test('D18.76 names are offered by how they begin, then by their parts; not in texts, nor for operators', () => {
  assert.equal(offered('http.request.pa|')![0], 'http.request.path');
  assert.equal(offered('pat|')![0], 'http.request.path');
  assert.equal(offered('ip.src eq 192.0.2.1 and http.host eq "x" or starts_|')![0], 'starts_with');
  for (const text of [
    'http.request.path contains "pat|',
    'http.request.path matches r#"a" pat|',
    'ip.src in|',
    'http.request.path|',
    'qqq|',
    '|',
  ])
    assert.equal(offered(text), undefined, text);
  assert.ok(offered('http.request.path eq r"\\" and met|')!.includes('http.request.method'));
  assert.ok(offered('|', true)!.length > 20);
});

test('D18.76 a name takes the place of the whole word; a function gets its parenthesis, once; types are those of the scheme', () => {
  const taken = (text: string, name: string) => {
    const [plain, caret] = [text.replace('|', ''), text.indexOf('|')];
    const { text: made, caret: at } = completed(plain, completionAt(plain, caret, WAF)!, WAF.find((each) => each.name === name)!);
    return `${made.slice(0, at)}|${made.slice(at)}`;
  };
  assert.equal(taken('not http.req|uest.x eq "a"', 'http.request.path'), 'not http.request.path| eq "a"');
  assert.equal(taken('starts|', 'starts_with'), 'starts_with(|');
  assert.equal(taken('low|(http.host)', 'lower'), 'lower(|http.host)');
  const types = (name: string) => typesOf(WAF.find((each) => each.name === name)!);
  assert.deepEqual([types('ip.src'), types('len')], ['Ip', '(field Bytes or Array) → Int']);
  const smart = expressionNames(packagedSchemes().smart_firewall_rule).map(({ name }) => name);
  assert.ok(!smart.includes('http.request.path') && smart.includes('any'));
});
