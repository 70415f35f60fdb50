// `npm test [FILE…]`: type check, linter, then every test beside the code and in test/.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;
const named = process.argv.slice(2);
const files = named.length > 0 ? named : globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort();

const steps = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['tests', process.execPath, ['--test', '--test-concurrency=2', '--test-timeout=600000', ...files]],
];
for (const [name, command, args] of named.length > 0 ? steps.slice(2) : steps) {
  process.stderr.write(`\n=== ${name} ===\n`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`\n${name}: failed\n`);
    process.exit(1);
  }
}
