// `npm test [FILE…]`: type check, linter, then every test; with files only those.
// `npm run test:unit`: the tests that need no server, no engine and no other program, in seconds: those beside the code
// (src/) and those of whole feeds in memory (test/feed/).
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const UNIT = ['src/**/*.test.ts', 'test/feed/*.test.ts'];
const ALL = ['src/**/*.test.ts', 'test/**/*.test.ts'];

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;
const find = (patterns) => globSync(patterns, { cwd: root }).sort();
const [first, ...others] = process.argv.slice(2);
const isWhole = first === undefined;
const isUnit = first === '--unit';
const files = isWhole ? find(ALL) : isUnit ? find(UNIT) : [first, ...others];

const steps = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['tests', process.execPath, ['--test', '--test-concurrency=2', '--test-timeout=600000', ...files]],
];
// What one process has compiled the next need not.
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`, ...process.env };
// A process for each file costs half the time of the unit tests: they share two.
if (isUnit) {
  const half = (rest) => files.filter((_, n) => n % 2 === rest);
  const run = (some) => spawn(process.execPath, ['--test', '--test-isolation=none', ...some], { cwd: root, env, stdio: 'inherit' });
  const codes = await Promise.all([0, 1].map((rest) => new Promise((resolve) => run(half(rest)).once('exit', resolve))));
  process.exit(codes.every((code) => code === 0) ? 0 : 1);
}
for (const [name, command, args] of isWhole ? steps : steps.slice(2)) {
  process.stderr.write(`\n=== ${name} ===\n`);
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`\n${name}: failed\n`);
    process.exit(1);
  }
}
