// `npm test [FILE…]`: type check, linter, then every test; with files only those.
// `npm run test:unit`: the tests that need no server, no engine and no other program, in seconds: those beside the code
// (src/) and those of whole feeds in memory (test/feed/).
import { spawn } from 'node:child_process';
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

// Three files at a time keep two cores busy: a third of the time of most is waiting.
const steps = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['tests', process.execPath, ['--test', '--test-concurrency=3', '--test-timeout=600000', ...files]],
];
// What one process has compiled the next need not.
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`, ...process.env };
const run = (command, args, added) =>
  new Promise((resolve) => spawn(command, args, { cwd: root, env: { ...env, ...added }, stdio: 'inherit' }).once('exit', resolve));
// A process for each file costs half the time of the unit tests: they share two.
if (isUnit) {
  const half = (rest) => files.filter((_, n) => n % 2 === rest);
  const codes = await Promise.all([0, 1].map((rest) => run(process.execPath, ['--test', '--test-isolation=none', ...half(rest)])));
  process.exit(codes.every((code) => code === 0) ? 0 : 1);
}
for (const [name, command, args] of isWhole ? steps : steps.slice(2)) {
  process.stderr.write(`\n=== ${name} ===\n`);
  const shared = isWhole && name === 'tests' ? await startShared() : { settings: {}, stop: async () => {} };
  const code = await run(command, args, shared.settings).finally(shared.stop);
  if (code !== 0) {
    process.stderr.write(`\n${name}: failed\n`);
    process.exit(1);
  }
}

/** One PostgreSQL and one Kafka for all files that do no harm to theirs; each has a database and topics of its own. */
async function startShared() {
  const { kafkaForTests, noKafkaAtAll } = await import('../test/support/kafka.ts');
  const { noPostgres, startPostgres } = await import('../test/support/postgres.ts');
  const [postgres, kafka] = await Promise.all([noPostgres() ? undefined : startPostgres(), noKafkaAtAll() ? undefined : kafkaForTests()]);
  return {
    settings: {
      ...(postgres && { TEST_DATABASE_URL: await postgres.createDatabase() }),
      ...(kafka && { TEST_KAFKA_BROKERS: kafka.brokers.join(',') }),
    },
    stop: () => Promise.all([postgres?.stop(), kafka?.stop()]),
  };
}
