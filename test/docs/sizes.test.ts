/** What one reads at once stays small: files and folders of the code, its tests aside. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const [LINES, FILES] = [300, 25];
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CODE = globSync(['src/**/*.{ts,sql}', 'packages/**/*.{ts,js}', 'scripts/*.mjs'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**', '**/*.test.ts'],
});

test(`the code: no file has more than ${LINES} lines`, () => {
  const lines = (path: string) => readFileSync(ROOT + path, 'utf8').split('\n').length - 1;
  assert.deepEqual(
    CODE.map((path) => ({ path, lines: lines(path) })).filter((file) => file.lines > LINES),
    [],
  );
});

test(`the code: no folder has more than ${FILES} files; what belongs together stands in one of its own`, () => {
  const folders = Object.groupBy(CODE, (path) => dirname(path));
  const full = Object.entries(folders).flatMap(([folder, files]) => (files!.length > FILES ? `${folder}: ${files!.length}` : []));
  assert.deepEqual(full, []);
});
