// `npm test [FILE|FOLDER…]`: type check, linter, then every test; with files or folders only their tests.
// `npm run check`: type check and linter.
// `npm run test:unit`: the tests that need no server, no engine and no other program, in seconds: those beside the code
// (src/) and those of whole feeds in memory (test/feed/), but for long ones.
import { spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { run as runTests } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const UNIT = [
  'src/**/*.test.ts',
  'packages/{*,network/sets}/*.test.ts',
  'packages/expression/{evaluate,hints,literal,regex}/**/*.test.ts',
  'test/feed/*.test.ts',
];
/** What else does all its work in its own process. */
const IN_PROCESS = [
  'test/in-process/**/*.test.ts',
  'test/simulation/*.test.ts',
  'packages/*/test/*.test.ts',
  'test/geo/*.test.ts',
  'test/docs/{compatibility,docs,expressions,growth,kubernetes,module-state,monitoring,release,sizes,sources,spec,words}.test.ts',
  'test/console/words.test.ts',
];
const ALL = ['{src,packages}/**/*.test.ts', 'test/**/*.test.ts'];
/** Files that take longest come first, so that none of them is left over at the end. */
const LONGEST = [
  'contract/postgres-kafka',
  'crash/scale-out',
  'integrations/bouncers',
  'process/process',
  'replicas/replicas',
  'store/postgres',
  'console/pages',
  'contract/feeds-embedded',
  'contract/embedded',
  'cli/export-import',
  'integrations/integrations',
  'crash/sources',
  'stream/kafka',
  'process/new-kind',
  'process/feeds-outage',
  'process/signals-outage',
  'process/lost-store',
  'cli/moved-past',
  'process/new-format',
  'store/explain',
].map((name) => `test/${name}.test.ts`);
const TIMEOUT = 600_000;
// Four files at a time keep two cores busy: half of the time of most is waiting.
const CONCURRENCY = 4;
const TOGETHER = 3;

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;
const sizeOf = (file) => statSync(root + file).size;
const find = (patterns) => globSync(patterns, { cwd: root }).sort();
const given = process.argv.slice(2);
// What one process has compiled the next need not.
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/compile`;

/** Runs a program; whether it ended well. */
const run = (command, ...args) =>
  new Promise((resolve) => spawn(command, args, { cwd: root, stdio: 'inherit' }).once('exit', (code) => resolve(code === 0)));

/** A process for each file costs half the time of these tests: they share some, large files and small ones divided evenly; one more than there are cores, since they take unequally long. */
async function runTogether(patterns) {
  const files = find(patterns).sort((a, b) => sizeOf(b) - sizeOf(a));
  const parts = Array.from({ length: TOGETHER }, (_, rest) => files.filter((_, n) => n % TOGETHER === rest));
  const passed = await Promise.all(
    parts.map((part) => run(process.execPath, '--test', '--test-isolation=none', `--test-timeout=${TIMEOUT}`, ...part)),
  );
  return passed.every(Boolean);
}

/** Every other file has a process of its own. */
async function runOthers(starting) {
  const together = find([...UNIT, ...IN_PROCESS]);
  const rank = (file) => (LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length);
  const files = find(ALL)
    .filter((file) => !together.includes(file))
    .sort((a, b) => rank(a) - rank(b));
  const shared = await starting;
  Object.assign(process.env, shared.settings);
  let passed = true;
  const tests = runTests({ files: files.map((file) => root + file), concurrency: CONCURRENCY, timeout: TIMEOUT });
  tests.on('test:fail', () => {
    passed = false;
  });
  await new Promise((resolve) => tests.compose(spec).on('end', resolve).pipe(process.stdout));
  await shared.stop();
  return passed;
}

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const testsOf = (path) => (isFolder(path) ? find([`${path.replace(/\/$/, '')}/**/*.test.ts`]) : [path]);

async function runGiven() {
  const files = given.flatMap(testsOf);
  // Without files Node would run all tests, without what they share.
  if (files.length === 0) process.stderr.write(`no tests in ${given.join(', ')}\n`);
  return files.length > 0 && run(process.execPath, '--test', `--test-concurrency=${CONCURRENCY}`, `--test-timeout=${TIMEOUT}`, ...files);
}

const CHECK = {
  types: async () => (await run(bin('tsc'), '--noEmit')) && run(bin('tsc'), '--noEmit', '-p', 'packages/console'),
  lint: () => run(bin('biome'), 'check', '--error-on-warnings', '.'),
};
const WHOLE = {
  ...CHECK,
  tests: async () => {
    // They start, and on a new machine are fetched, beside the tests that need none of them.
    const shared = startShared();
    const passed = await runTogether([...UNIT, ...IN_PROCESS]);
    return (await runOthers(shared)) && passed;
  },
};
const NAMED = { '--unit': { tests: () => runTogether(UNIT) }, '--check': CHECK };
const steps = given.length === 0 ? WHOLE : (NAMED[given[0]] ?? { tests: runGiven });
if (steps === WHOLE) buildLibrary();
for (const [name, step] of Object.entries(steps)) {
  process.stderr.write(`\n=== ${name} ===\n`);
  if (await step()) continue;
  process.stderr.write(`\n${name}: failed\n`);
  process.exit(1);
}

/** Builds the client library of bouncers meanwhile, out of the way of everything else; a test waits for it. */
function buildLibrary() {
  const building = spawn(process.execPath, [`${root}test/support/bouncer-library.ts`], { stdio: 'ignore' });
  building.unref();
  process.on('exit', () => building.kill());
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
