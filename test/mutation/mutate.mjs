/**
 * Changes a file in every small way there is and runs tests on each change; prints what none of them noticed:
 * `node test/mutation/mutate.mjs FILE TEST…`. It works on a copy of the tree, without types: what the tool writes would not always be
 * TypeScript. The tool comes from the registry and is no dependency.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

const TOOL = ['@stryker-mutator/core@10.0.0', '@stryker-mutator/tap-runner@10.0.0'];
const root = resolve(import.meta.dirname, '../..');
const [file, ...tests] = process.argv.slice(2);
if (tests.length === 0) throw new Error('usage: node test/mutation/mutate.mjs FILE TEST…');

const copy = mkdtempSync(join(tmpdir(), 'weir-mutation-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const folder of ['package.json', 'packages', 'src', 'test']) cpSync(join(root, folder), join(copy, folder), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
for (const each of globSync(join(copy, file))) writeFileSync(each, stripTypeScriptTypes(readFileSync(each, 'utf8')));
const config = {
  testRunner: 'tap',
  tap: { testFiles: tests, nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'] },
  mutate: [file],
  inPlace: true,
  concurrency: 1,
  timeoutMS: 10_000,
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, reportTests: false },
};
writeFileSync(join(copy, 'stryker.config.json'), JSON.stringify(config));
const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH };
const command = ['--yes', ...TOOL.flatMap((name) => ['-p', name]), 'stryker', 'run'];
process.exitCode = spawnSync('npx', command, { cwd: copy, env, stdio: 'inherit' }).status ?? 1;
