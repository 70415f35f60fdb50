import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expressionTester } from '../../src/runtime/jobs/calls.ts';

test('D19.15 tests of many share a thread, and one that is too much harms no other', async () => {
  const tester = expressionTester(undefined);
  const of = (expression: string, request: string) => tester({ kind: 'waf_rule', expression, request });
  const results = await Promise.all(
    ['/a', '/b', '/a'].map((path) => of('http.request.path == "/a"', JSON.stringify({ 'http.request.path': path }))),
  );
  assert.deepEqual(
    results.map((tested) => typeof tested !== 'string' && tested.result),
    [true, false, true],
  );
  // A request of many megabytes, which only a command could hand over, fills the thread's memory.
  const large = `{"http.request.headers":{${Array.from({ length: 300_000 }, (_, i) => `"${i}":["${'x'.repeat(200)}"]`).join(',')}}}`;
  await assert.rejects(of('any(http.request.headers[*][*] == "y")', large), { code: 'REFUSED' });
  const after = await of('http.request.path == "/a"', '{"http.request.path":"/a"}');
  assert.equal(typeof after !== 'string' && after.result, true);
  assert.equal(await of('http.request.path == "/a"', 'hello'), 'the line is neither JSON nor of the combined log format');
});
