import { Command, CommanderError } from 'commander';
import { readConfig } from '../config.ts';
import { codeOf, hasCode, WeirError } from '../errors.ts';
import type { Store, StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { openReads, openStore, openStream } from '../runtime/engines.ts';
import type { Config } from '../settings/settings.ts';
import type { AddCommand } from './command.ts';
import { authorOf, type Context } from './context.ts';
import { ROW_GROUPS } from './rows/table.ts';
import { readUrl } from './signals/service.ts';
import { versionOf } from './version.ts';

interface Streams {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Groups of commands and their help. */
const GROUPS = {
  org: 'organizations and their subscription',
  workspace: 'workspaces',
  key: 'API keys',
  person: 'people whom a provider has named',
  bouncer: 'clients that fetch decisions',
  device: 'devices that fetch feeds',
  list: 'lists and the stored defaults of their feeds',
  feed: 'feeds made of several lists',
  canary: 'large changes that wait for the canaries of a feed',
  source: 'lists with an origin, which keeps them',
  webhook: 'report the alerts of a workspace',
  approval: 'see and withdraw changes that wait for approval',
  'signing-key': 'manage the keys that sign feeds',
  rule: 'rules that are active',
  batch: 'batches of signals as they landed',
  'dead-letter': 'messages that could not land',
  stream: 'the stream that landing reads',
  target: 'kinds of devices that feeds are made for',
  geo: 'country and ASN data',
  expression: 'filter expressions',
  hits: 'what lists have stopped',
  audit: 'who changed what',
  sample: 'good traffic that rules are tried on',
};

/** How long a writing command waits for the lock of the embedded store, ms. */
const LOCK_LIMIT = 30_000;

/** Commands that are no operations. Only the named group is loaded. */
const COMMANDS: readonly (readonly [words: readonly string[], load: () => Promise<(add: AddCommand) => void>])[] = [
  [['serve'], async () => (await import('./service/serve.ts')).serveCommand],
  [['org'], async () => (await import('./account/organizations.ts')).organizationCommands],
  [['workspace'], async () => (await import('./account/workspaces.ts')).workspaceCommands],
  [['lookup'], async () => (await import('./rules/lookup.ts')).lookupCommand],
  [['dead-letter'], async () => (await import('./state/dead-letters.ts')).deadLetterCommands],
  [['stream'], async () => (await import('./service/stream.ts')).streamCommands],
  [['send'], async () => (await import('./signals/send.ts')).sendCommand],
  [['export'], async () => (await import('./service/export.ts')).exportCommand],
  [['import'], async () => (await import('./service/import.ts')).importCommand],
  [['backup', 'restore'], async () => (await import('./service/backup.ts')).backupCommands],
  [['geo'], async () => (await import('./state/geo.ts')).geoCommands],
  [['expression'], async () => (await import('./rules/expression.ts')).expressionCommands],
  [['expression'], async () => (await import('./rules/expression-test.ts')).expressionTestCommand],
  [['sample'], async () => (await import('./rules/sample.ts')).sampleCommands],
  [['backtest'], async () => (await import('./rules/backtest.ts')).backtestCommand],
  [['apply'], async () => (await import('./service/apply.ts')).applyCommand],
  [['workspace'], async () => (await import('./service/workspace-export.ts')).workspaceExportCommand],
  [['migrate'], async () => (await import('./service/migrate.ts')).migrateCommand],
  [['upgrade'], async () => (await import('./service/upgrade.ts')).upgradeCommand],
  [['doctor'], async () => (await import('./service/doctor.ts')).doctorCommand],
  [['hits'], async () => (await import('./hits/import.ts')).hitsCommands],
  [['audit'], async () => (await import('./state/audit.ts')).auditCommands],
  [['status'], async () => (await import('./state/status.ts')).statusCommand],
];

/** Exit codes: 0 done, 1 partly failed or an engine is unavailable, 2 a mistake in the command line or a setting. */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  let exitCode = 0;
  let hasHelped = false;
  const root = new Command('weir')
    .description('Security signals in, threat feeds out.')
    .version(args.includes('--version') ? versionOf(streams.environment) : '', '--version', 'print the version and the commit')
    .option('--url <url>', URL_HELP, readUrl)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {}, outputError: () => {} });
  /** A group without a command prints its help as an error. */
  const group = (name: keyof typeof GROUPS) =>
    root.commands.find((command) => command.name() === name) ??
    root
      .command(name)
      .description(GROUPS[name])
      .exitOverride()
      .configureOutput({
        writeErr(text) {
          hasHelped = true;
          stderr.write(text);
        },
      });

  const add: AddCommand = (words, summary, options, { run, show, isOperation, sends }) => {
    const [first, rest] = splitWords(words);
    const parent = first === undefined ? root : group(first);
    const command = options(
      parent
        .command(rest)
        .description(summary)
        .option('--json', 'print JSON for programs')
        .option('--actor <name>', 'who does it, for the audit log and as the author of rules (default: the system user)', readActor),
    );
    // Other commands have a `--url` of their own.
    const takesUrl = isOperation && command.options.every(({ long }) => long !== '--url');
    if (takesUrl) command.option('--url <url>', URL_HELP, readUrl);
    command.exitOverride().action(async (...given: unknown[]) => {
      const parsed = command.opts();
      const named: URL | undefined = (takesUrl ? parsed.url : undefined) ?? root.opts().url;
      const { WEIR_URL } = streams.environment;
      if (!isOperation && !sends) {
        if (named !== undefined)
          throw new WeirError(
            'USAGE',
            `weir ${first ?? ''} ${command.name()} works on the store of its own machine: leave --url out`.replace('  ', ' '),
          );
        if (WEIR_URL && words !== 'serve') stderr.write(`weir: this works on the store of this machine, not at WEIR_URL\n`);
      }
      const url = named ?? (WEIR_URL && (isOperation || sends) ? readUrl(WEIR_URL) : undefined);
      exitCode = await withContext(streams, { actor: parsed.actor, url }, async (context) => {
        const positional = given
          .slice(0, -2)
          .flat()
          .filter((argument) => argument !== undefined)
          .map(String);
        const value = await run(context, positional, parsed);
        const text = parsed.json ? JSON.stringify(value) : show(value);
        if (value !== undefined && text !== '') stdout.write(`${text}\n`);
      });
    });
  };
  const isNamed = ([words]: readonly [readonly string[], unknown]) => words.includes(wordOf(args));
  const isKnown = COMMANDS.some(isNamed) || ROW_GROUPS.some(isNamed);
  for (const each of COMMANDS) if (!isKnown || isNamed(each)) (await each[1]())(add);
  for (const each of ROW_GROUPS) if (!isKnown || isNamed(each)) (await import('./rows/row.ts')).addRows(add, await each[1]());

  try {
    await root.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (hasHelped) return 2;
    const sentence = readable(error);
    if (sentence === undefined) throw error;
    for (const line of sentence.split('\n')) stderr.write(`weir: ${line}\n`);
    return args[0] === 'serve' && (isAway(error) || hasNoRoom(error)) ? 1 : 2;
  }
}

const URL_HELP =
  'address of a running service to run the command at, with the key in WEIR_API_KEY; else WEIR_URL, or the store of this machine';

/** The first word behind `--url`. */
const wordOf = ([first = '', second = '', third = '']: readonly string[]): string =>
  first === '--url' ? third : first.startsWith('--url=') ? second : first;

/** A later start may succeed. */
const isAway = (error: unknown) => hasCode(error, 'STORE_UNAVAILABLE') || hasCode(error, 'STREAM_UNAVAILABLE');

/** SQLite result codes: I/O error, disk full. */
const SQLITE_FULL = 13;
const SQLITE_DISK: readonly number[] = [10, SQLITE_FULL];

/** A later start may succeed. */
function hasNoRoom(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  return code === 'ENOSPC' || code === 'EDQUOT' || SQLITE_DISK.includes(errcode % 256);
}

/** The message of a mistake; undefined: a defect. */
function readable(error: unknown): string | undefined {
  if (codeOf(error) !== undefined) return (error as Error).message;
  if (error instanceof CommanderError) {
    return error.code === 'commander.help'
      ? 'name a command; weir --help lists them'
      : error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  }
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if ((error as { errcode?: number }).errcode === SQLITE_FULL) return 'the disk of DATA_DIR is full';
  if (/^(E[A-Z]+|ERR_SQLITE.*)$/.test(code)) return (error as Error).message;
  return undefined;
}

function splitWords(words: string): [keyof typeof GROUPS | undefined, string] {
  const [first, ...rest] = words.split(' ');
  return Object.hasOwn(GROUPS, first) ? [first as keyof typeof GROUPS, rest.join(' ')] : [undefined, words];
}

/** A name as in X-Actor. */
function readActor(text: string): string {
  const name = text.trim();
  if (name === '' || [...name].length > 100 || /[\p{Cc}\p{Cf}]/u.test(name))
    throw new WeirError('USAGE', '--actor must be a name of 1 to 100 characters, without control characters');
  return name;
}

async function withContext(
  { environment, stdout, stderr }: Streams,
  { actor, url }: { readonly actor: string | undefined; readonly url: URL | undefined },
  work: (context: Context) => Promise<void>,
): Promise<number> {
  const read = readConfig(environment);
  if ('faults' in read) {
    for (const fault of read.faults) stderr.write(`weir: ${fault}\n`);
    return 2;
  }
  const config: Config = read.config;
  let store: Promise<Store> | undefined;
  let reads: Promise<StoreReads & { close(): Promise<void> }> | undefined;
  let stream: Promise<Stream> | undefined;
  const patience = {
    limit: LOCK_LIMIT,
    onWait: () => void stderr.write(`weir: another process writes to the store; waiting for it, at most ${LOCK_LIMIT / 1000} s\n`),
  };
  const onMigrate = (sentence: string) => void stderr.write(`weir: ${sentence}\n`);
  const context: Context = {
    config,
    environment,
    stdout,
    stderr,
    reads: () => (reads ??= openReads(config).catch(unavailable)),
    store: (mayBeNew = false) => (store ??= openStore(config, { patience, onMigrate, mayBeNew }).catch(unavailable)),
    stream: () => (stream ??= openStream(config).catch(unavailable)),
    author: authorOf(actor),
    url,
    exitCode: 0,
  };
  try {
    await work(context);
    return context.exitCode;
  } finally {
    for (const engine of [stream, reads, store]) await (await engine?.catch(() => undefined))?.close();
  }
}

/** Prints no stack trace for an engine that cannot be opened. */
function unavailable(error: Error): never {
  throw new WeirError('USAGE', error.message);
}
