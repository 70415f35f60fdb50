/** No module of weir holds state: what lasts is made by a function, and two of it can stand side by side. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const SRC = new URL('../../src/', import.meta.url);
/** A thread's file is its main program. Weak maps and sets hold what follows from their keys alone. */
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('.thread.ts'),
);
const STATE = /^(?:export )?(?:let |var |const \w+(?:: (?!readonly)[^=]+)? = (?:new (?:Map|Set)(?:<.*>)?\(\)|\[\]|\{\});)/;

test('docs: no module has a variable, or an empty map, set or list that is filled later', () => {
  const found = files.flatMap((path) =>
    readFileSync(new URL(path, SRC), 'utf8')
      .split('\n')
      .flatMap((line, at) => (STATE.test(line) ? [`${path}:${at + 1} ${line}`] : [])),
  );
  assert.ok(files.length > 100);
  assert.deepEqual(found, []);
});
