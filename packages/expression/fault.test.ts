import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultExcerpt, faultLine, locate } from './fault.ts';

test('4.2 columns and lengths count bytes', () => {
  const text = 'é == "😀" x';
  assert.deepEqual(locate(text, 0, 1, 'm'), { line: 1, column: 1, length: 2, text: 'm' });
  assert.deepEqual(locate(text, 10, 11, 'm'), { line: 1, column: 14, length: 1, text: 'm' });
  assert.equal(locate(text, 5, 9, 'm').length, 6);
});

test('4.2 lines count from 1, and a fault ends with its line', () => {
  const text = 'a\nbb cc\r\nd';
  assert.deepEqual(locate(text, 2, text.length, 'm'), { line: 2, column: 1, length: 6, text: 'm' });
  assert.deepEqual(locate(text, 9, text.length, 'm'), { line: 3, column: 1, length: 1, text: 'm' });
  assert.deepEqual(locate(text, 10, 10, 'm'), { line: 3, column: 2, length: 1, text: 'm' }, 'at the end');
  assert.deepEqual(locate('', 0, 0, 'm'), { line: 1, column: 1, length: 1, text: 'm' });
});

test('4.2 one line for a response, a caret block for a terminal', () => {
  const text = 'a == 1 or\nb == é x';
  const e = locate(text, 15, 16, 'expected an integer');
  assert.equal(faultLine(e), '(2:6) expected an integer');
  assert.equal(faultExcerpt(text, e), '  b == é x\n       ^');
});

test('4.2 a long line is cut around the fault, and control characters do not reach the terminal', () => {
  const text = `${'a'.repeat(300)}\x1b[31m${'b'.repeat(300)}`;
  const lines = faultExcerpt(text, locate(text, 300, 305, 'm')).split('\n');
  assert.equal(lines.length, 2);
  const [source, carets] = lines;
  assert.ok(source.length < 110);
  assert.ok(source.startsWith('  …aaa') && source.endsWith('bbb…') && !source.includes('\x1b'));
  assert.equal(carets.trim(), '^^^^^');
  assert.equal(source.slice(carets.indexOf('^')).slice(0, 5), ' [31m');
});
