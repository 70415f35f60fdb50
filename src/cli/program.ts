import { Command, CommanderError } from 'commander';
import { readConfig } from '../config.ts';
import { codeOf, hasCode, WeirError } from '../errors.ts';
import type { Store, StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { openReads, openStore, openStream } from '../runtime/engines.ts';
import type { Config } from '../settings/settings.ts';
import type { AddCommand } from './command.ts';
import { authorOf, type Context } from './context.ts';
import { versionOf } from './version.ts';

interface Streams {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Commands that stand together under one word, and what help says of it. */
const GROUPS = {
  org: 'organizations and their subscription',
  workspace: 'workspaces',
  key: 'API keys',
  person: 'people whom a provider has named',
  bouncer: 'clients that pull decisions',
  device: 'what pulls feeds',
  list: 'lists and the stored defaults of their feeds',
  feed: 'feeds made of several lists',
  source: 'lists with an origin, which keeps them',
  webhook: 'where a workspace is told what needs attention',
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

/** How long a command that writes waits for the lock of the embedded store, ms. */
const LOCK_LIMIT = 30_000;

/** What adds each command, by the first words of what it adds. Only that is loaded, unless the first word is none of these. */
const COMMANDS: readonly (readonly [words: readonly string[], load: () => Promise<(add: AddCommand) => void>])[] = [
  [['serve'], async () => (await import('./service/serve.ts')).serveCommand],
  [['org'], async () => (await import('./account/organizations.ts')).organizationCommands],
  [['workspace'], async () => (await import('./account/workspaces.ts')).workspaceCommands],
  [['key'], async () => (await import('./account/keys.ts')).keyCommands],
  [['bouncer'], async () => (await import('./state/bouncers.ts')).bouncerCommands],
  [['person'], async () => (await import('./state/people.ts')).peopleCommands],
  [['device'], async () => (await import('./state/devices.ts')).deviceCommands],
  [['list'], async () => (await import('./account/lists.ts')).listCommands],
  [['feed'], async () => (await import('./account/feeds.ts')).feedCommands],
  [['target'], async () => (await import('./account/targets.ts')).targetCommands],
  [['source'], async () => (await import('./sources/sources.ts')).sourceCommands],
  [['source'], async () => (await import('./sources/refreshes.ts')).sourceRefreshCommands],
  [['webhook'], async () => (await import('./account/webhooks.ts')).webhookCommands],
  [['rule'], async () => (await import('./rules/rules.ts')).ruleCommands],
  [['rule'], async () => (await import('./rules/rule-delete.ts')).ruleDeleteCommand],
  [['rule'], async () => (await import('./rules/rule-change.ts')).ruleChangeCommand],
  [['batch', 'undo'], async () => (await import('./rules/batches.ts')).batchCommands],
  [['history'], async () => (await import('./rules/history.ts')).historyCommand],
  [['feed'], async () => (await import('./rules/difference.ts')).differenceCommand],
  [['changes'], async () => (await import('./rules/changes.ts')).changesCommand],
  [['worth'], async () => (await import('./rules/overlap.ts')).worthCommand],
  [['lookup', 'explain'], async () => (await import('./rules/lookup.ts')).lookupCommand],
  [['rule'], async () => (await import('./rules/rule-export.ts')).ruleExportCommand],
  [['dead-letter'], async () => (await import('./state/dead-letters.ts')).deadLetterCommands],
  [['stream'], async () => (await import('./service/stream.ts')).streamCommands],
  [['send'], async () => (await import('./signals/send.ts')).sendCommand],
  [['export'], async () => (await import('./service/export.ts')).exportCommand],
  [['import'], async () => (await import('./service/import.ts')).importCommand],
  [['backup', 'restore'], async () => (await import('./service/backup.ts')).backupCommands],
  [['geo'], async () => (await import('./state/geo.ts')).geoCommands],
  [['expression'], async () => (await import('./rules/expression.ts')).expressionCommands],
  [['expression'], async () => (await import('./rules/expression-test.ts')).expressionTestCommand],
  [['source'], async () => (await import('./sources/catalogue.ts')).catalogueCommand],
  [['source'], async () => (await import('./sources/try.ts')).tryCommand],
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

/** Runs one command line; returns the exit code: 0 done, 1 the work failed in part or an engine is away, 2 a mistake in the command line or a setting. */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  let exitCode = 0;
  let hasHelped = false;
  const root = new Command('weir')
    .description('Security signals in, threat feeds out.')
    .version(args.includes('--version') ? versionOf(streams.environment) : '', '--version', 'print the version and the commit')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {}, outputError: () => {} });
  /** A group that is called without a command answers with its help, as a mistake does. */
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

  const add: AddCommand = (words, summary, options, { run, show }) => {
    const [first, rest] = splitWords(words);
    const parent = first === undefined ? root : group(first);
    const command = options(
      parent
        .command(rest)
        .description(summary)
        .option('--json', 'print JSON for programs')
        .option('--actor <name>', 'who does it, for the audit log and as the author of rules (default: the system user)', readActor),
    );
    command.exitOverride().action(async (...given: unknown[]) => {
      const parsed = command.opts();
      exitCode = await withContext(streams, parsed.actor, async (context) => {
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
  const named = COMMANDS.filter(([words]) => words.includes(args[0] ?? ''));
  for (const [, load] of named.length > 0 ? named : COMMANDS) (await load())(add);

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

/** Whether an engine is to blame: a service that starts again will find it, once it is there. */
const isAway = (error: unknown) => hasCode(error, 'STORE_UNAVAILABLE') || hasCode(error, 'STREAM_UNAVAILABLE');

/** Primary result codes of SQLite: the disk fails, or is full. */
const SQLITE_DISK: readonly number[] = [10, 13];

/** Whether the disk is full, or fails: a service that starts again finds room once somebody has made it. */
function hasNoRoom(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number };
  return code === 'ENOSPC' || code === 'EDQUOT' || SQLITE_DISK.includes(errcode % 256);
}

/** The sentence to show for a mistake of the person; undefined for a fault of ours. */
function readable(error: unknown): string | undefined {
  if (codeOf(error) !== undefined) return (error as Error).message;
  if (error instanceof CommanderError) {
    return error.code === 'commander.help'
      ? 'name a command; weir --help lists them'
      : error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  }
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (/^(E[A-Z]+|ERR_SQLITE.*)$/.test(code)) return (error as Error).message;
  return undefined;
}

function splitWords(words: string): [keyof typeof GROUPS | undefined, string] {
  const [first, ...rest] = words.split(' ');
  return Object.hasOwn(GROUPS, first) ? [first as keyof typeof GROUPS, rest.join(' ')] : [undefined, words];
}

/** Who acts, from the option: a name as X-Actor takes it. */
function readActor(text: string): string {
  const name = text.trim();
  if (name === '' || [...name].length > 100 || /[\p{Cc}\p{Cf}]/u.test(name))
    throw new WeirError('USAGE', '--actor must be a name of 1 to 100 characters, without control characters');
  return name;
}

async function withContext(
  { environment, stdout, stderr }: Streams,
  actor: string | undefined,
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
    store: (anew = false) => (store ??= openStore(config, { patience, onMigrate, anew }).catch(unavailable)),
    stream: () => (stream ??= openStream(config).catch(unavailable)),
    author: authorOf(actor),
    exitCode: 0,
  };
  try {
    await work(context);
    return context.exitCode;
  } finally {
    for (const engine of [stream, reads, store]) await (await engine?.catch(() => undefined))?.close();
  }
}

/** An engine that cannot be opened is told in a sentence, not by where in the code that was noticed. */
function unavailable(error: Error): never {
  throw new WeirError('USAGE', error.message);
}
