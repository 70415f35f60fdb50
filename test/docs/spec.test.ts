/** SPEC.md tells which tests prove which rule; its table is made from the titles of the tests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = (...args: string[]) => spawnSync(process.execPath, [join(ROOT, 'scripts/spec-table.mjs'), ...args], { encoding: 'utf8' });

test('SPEC.md: every rule that a test names is there, and the table is that of the titles', () => {
  const { status, stderr } = run('--check');
  assert.equal(status, 0, stderr);
});

const SPEC = `# S
## 4. Four
### 4.1 One
**4.1.2** A rule.
## 5. Five
## D2. Two
- **D2.7** Another.

<!-- rules and tests: begin -->
<!-- rules and tests: end -->
The end.
`;
const TITLES = [
  "test('4.1.2 a | b', () => {});",
  `test("5, D2 let's", () => {});`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the title is read as text
  '  test(`D2.7 store ${name}: lands`, async (t) => {});',
  "describe('4.1 D2 20 times', () => {});",
  "test('no rule', () => {});",
];

/** A project with this SPEC.md and these lines of a test. */
function project(t: TestContext, lines: readonly string[]) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'test'));
  writeFileSync(join(folder, 'SPEC.md'), SPEC);
  writeFileSync(join(folder, 'test/a.test.ts'), lines.join('\n'));
  return { folder, spec: () => readFileSync(join(folder, 'SPEC.md'), 'utf8') };
}

test('spec-table: titles are read in all their forms, and a second run changes nothing', (t) => {
  const { folder, spec } = project(t, TITLES);
  assert.match(run('--check', folder).stderr, /is stale/);
  assert.equal(run(folder).status, 0);
  assert.deepEqual(
    spec()
      .split('\n')
      .filter((line) => /^\| [\dD]/.test(line)),
    [
      '| 4.1 | `test/a.test.ts` | 20 times |',
      '| 4.1.2 | `test/a.test.ts` | a \\| b |',
      "| 5 | `test/a.test.ts` | let's |",
      "| D2 | `test/a.test.ts` | let's · 20 times |",
      '| D2.7 | `test/a.test.ts` | store …: lands |',
    ],
  );
  assert.match(spec(), /that no test names: none\..*The end\.\n$/s);
  assert.equal(run('--check', folder).status, 0);
});

test('spec-table: a rule that is not there is a fault, a section without a test is listed', (t) => {
  const { folder, spec } = project(t, ["test('4.1.3 x', () => {});"]);
  const { status, stderr } = run(folder);
  assert.equal(status, 1);
  assert.match(stderr, /test\/a\.test\.ts: a test names the rule 4\.1\.3/);
  assert.match(spec(), /that no test names: 5, D2\./);
});
