/** Every section of the contract has a test, and every title of a test names a rule that SPEC.md or a file of spec/ has. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = (cwd: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'scripts/spec.mjs'), ...args], { cwd, encoding: 'utf8' });

test('SPEC.md: every section has a test, and every rule that a test names is there', () => {
  const { status, stderr } = run(ROOT);
  assert.equal(status, 0, stderr);
});

const SPEC = `# S
## 4. Four
### 4.1 One
**4.1.2** A rule.
## 5. Five
`;
const DOOR = `# T
## D2. Two
- **D2.7** Another.
`;
const TITLES = [
  "test('4.1.2 a | b', () => {});",
  `test("5, D2 let's", () => {});`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the title is read as text
  '  test(`D2.7 store ${name}: lands`, async (t) => {});',
  "describe('4.1 D2 20 times', () => {});",
  "test('no rule', () => {});",
];

/** The folder of a project with this contract and these lines of a test. */
function project(t: TestContext, lines: readonly string[], door = DOOR): string {
  const folder = temporaryFolder(t);
  for (const name of ['test', 'spec']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'SPEC.md'), SPEC);
  writeFileSync(join(folder, 'spec/door.md'), door);
  writeFileSync(join(folder, 'test/a.test.ts'), lines.join('\n'));
  return folder;
}

test('npm run spec: titles are read in all their forms and printed in the order of the document', (t) => {
  const folder = project(t, TITLES);
  const { status, stdout, stderr } = run(folder);
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(stdout.split('\n'), [
    '4.1     test/a.test.ts  20 times',
    '4.1.2   test/a.test.ts  a | b',
    "5       test/a.test.ts  let's",
    "D2      test/a.test.ts  let's",
    'D2      test/a.test.ts  20 times',
    'D2.7    test/a.test.ts  store …: lands',
    '',
  ]);
  assert.deepEqual(run(folder, 'D2.7', '4.1').stdout.match(/^\S+/gm), ['4.1', '4.1.2', 'D2.7']);
});

test('npm run spec: a rule that is not there and a section without a test are faults', (t) => {
  const { status, stderr } = run(project(t, ["test('4.1.3 x', () => {});"]));
  assert.equal(status, 1);
  assert.deepEqual(stderr.trim().split('\n'), [
    'test/a.test.ts: a test names the rule 4.1.3, which SPEC.md does not have',
    'no test names 5',
    'no test names D2',
  ]);
});

test('npm run spec: a number stands once in all files of the contract', (t) => {
  const { stderr } = run(project(t, TITLES, `${DOOR}- **4.1.2** Another.\n`));
  assert.equal(stderr, '4.1.2 stands twice\n');
});
