/** `weir apply` (SPEC D28). */
import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { sourceReach } from '../../fetch/reach.ts';
import { waitIfLarge } from '../../manage/approvals/settings.ts';
import { type Applied, applyFile, type FileContext } from '../../manage/file/apply.ts';
import { FILE_OPERATIONS, fileSchema } from '../../manage/file/operations.ts';
import { fileFaults, normalizedFile } from '../../manage/file/schema.ts';
import type { Store } from '../../ports/store.ts';
import type { FieldFault } from '../../signal/validate.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, printable, workspaceIn } from '../context.ts';
import { inWorkspace } from '../usage.ts';
import { keyFiles } from './key-files.ts';
import { readSettingsFile } from './settings-file.ts';

interface Options {
  readonly workspace?: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly keyDir?: string;
  readonly schema?: boolean;
}

const APPLY = FILE_OPERATIONS.find(({ name }) => name === 'applyWorkspaceFile')!;

/** Exit code of a dry run with a difference. */
const DIFFERS = 3;

const applyOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--dry-run', 'report what would change, and change nothing; exit code 3 when something would')
    .option('--prune', 'delete what the file does not name, of the kinds in the file: lists it, and asks')
    .option('--yes', 'do it without asking')
    .option(
      '--key-dir <folder>',
      'write the texts of keys that are made to files there, one a key, for the user alone; else they are shown',
    )
    .option('--schema', 'print the JSON Schema of the file, and nothing else');

export function applyCommand(add: AddCommand): void {
  add(
    'apply [file]',
    'set up the lists, feeds, sources, keys and settings of a workspace from a file (YAML or JSON; - is standard input)',
    applyOptions,
    {
      async run(context, [path], options: Options): Promise<Applied | Schema> {
        if (options.schema) return { schema: fileSchema() };
        if (path === undefined) throw new WeirError('USAGE', 'name the file; weir apply --help lists the options');
        const file = normalizedFile(await readSettingsFile(path, context.environment, fileFaultsOrThrow));
        const store = options.dryRun ? ((await context.reads()) as Store) : await context.store();
        const workspace = await workspaceIn(context, store, options.workspace);
        const about = fileContext(store, workspace.id, context);
        const { dryRun = false, prune = false } = options;
        const seen = dryRun || prune ? await faultsByLine(applyFile(about, file, { dryRun: true, prune })) : undefined;
        if (dryRun) {
          if (seen!.changed) context.exitCode = DIFFERS;
          return seen!;
        }
        if (seen?.changes.some(({ takes }) => takes)) await confirm(context, linesOf(seen).join('\n'), options.yes);
        const given = { params: {}, query: { prune, confirmed: true }, body: {}, bytes: Buffer.from(JSON.stringify(file)) };
        const { manageContext } = await import('../client/local.ts');
        await waitIfLarge(APPLY, manageContext(context, store, workspace), given);
        const files =
          options.keyDir === undefined ? undefined : keyFiles(options.keyDir, async (hash) => (await store.findCaller(hash)) !== undefined);
        try {
          const applied = await faultsByLine(
            applyFile(about, file, {
              prune,
              confirmed: true,
              tag: seen?.tag,
              ...(files !== undefined && { onKeys: (keys) => files.write(keys) }),
            }),
          );
          return files === undefined
            ? applied
            : { ...applied, keys: applied.keys.map(({ name, id }) => ({ name, id, key: files.of(name) })) };
        } catch (error) {
          files?.revert();
          throw error;
        }
      },
      show: (done) => ('schema' in done ? JSON.stringify(done.schema, null, 2) : textOf(done)),
    },
  );
}

interface Schema {
  readonly schema: object;
}

export const fileContext = (store: Store, workspace: string, { author, config }: Context): FileContext => ({
  store,
  workspaceId: workspace,
  by: author,
  most: config,
  mostThings: 0,
  keyExpiresAt: null,
  keyNetworks: [],
  secretKeys: config.secretsKey,
  sourceReach: sourceReach(config.sourceNetworks, config.nat64Prefixes),
  webhookReach: sourceReach(config.webhookNetworks, config.nat64Prefixes),
  callerKeyId: null,
  pause: async () => {},
});

const faultLines = (faults: readonly FieldFault[]) =>
  new WeirError(
    'USAGE',
    ['nothing has been done:', ...faults.map(({ field, message }) => `${field || 'the file'}: ${message}`)].join('\n'),
  );

function fileFaultsOrThrow(value: unknown): asserts value is Record<string, unknown> {
  const clean =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? normalizedFile(value as Record<string, unknown>) : value;
  const faults = fileFaults(clean);
  if (faults.length > 0) throw faultLines(faults);
}

/** Prints each fault on a line. */
async function faultsByLine(applied: Promise<Applied>): Promise<Applied> {
  try {
    return await applied;
  } catch (error) {
    const faults = error instanceof WeirError && error.code === 'USAGE' ? error.cause : undefined;
    throw Array.isArray(faults) ? faultLines(faults as FieldFault[]) : error;
  }
}

const linesOf = ({ changes }: Applied): string[] =>
  changes.flatMap(({ text, goes_text: goes }) => [text, ...(goes === null ? [] : [`    ${printable(goes)}`])]);

function textOf(done: Applied): string {
  if (!done.changed) return 'no difference';
  const keys = done.keys.map(({ name, key }) => `key ${printable(name)}: ${key}`);
  const isShown = done.keys.some(({ key }) => key.startsWith('weir_'));
  const shown = isShown ? [...keys, 'This is the only time that the texts of keys are shown.'] : keys;
  return [...linesOf(done), ...shown, ...(done.act === null ? [] : [`done, in the audit log as ${done.act}`])].join('\n');
}
