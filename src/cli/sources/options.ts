/** What is set of a source, at the command line. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import {
  AUTH_KINDS,
  type Credential,
  EVERY,
  GUARD_NAMES,
  SOURCE_GUARDS,
  SOURCE_PURPOSES,
  type SourceGuards,
} from '../../account/source.ts';
import { WeirError } from '../../errors.ts';
import type { GivenSecret } from '../../manage/sources/source-secret.ts';
import { type GivenSettings, SOURCE_FORMATS } from '../../manage/sources/source-settings.ts';
import { COLUMN_HELP, MOST_SKIPPED, SKIP_HELP } from '../../source/readers/form.ts';
import { duration, inWorkspace, oneOf, wholeNumber } from '../usage.ts';

/** What the options say; commander names them as the guards are named. */
export interface SourceOptions extends Partial<SourceGuards> {
  readonly workspace: string;
  readonly url?: string;
  readonly purpose?: 'block' | 'allow';
  readonly every?: number;
  readonly format?: (typeof SOURCE_FORMATS)[number] | '';
  readonly path?: readonly string[];
  readonly where?: string;
  readonly collection?: string;
  readonly column?: string;
  readonly skip?: number;
  readonly copies?: readonly string[];
  readonly auth?: Credential['kind'] | 'none';
  readonly authHeader?: string;
  readonly secretFile?: string;
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];
const format = oneOf('--format', SOURCE_FORMATS);

/** The options of all that can be set of a source, but its address. */
export function sourceOptions(c: Command): Command {
  inWorkspace(c)
    .option('--purpose <purpose>', 'block, or allow: ranges that are never blocked', oneOf('--purpose', SOURCE_PURPOSES))
    .option('--every <duration>', `how often it is fetched, such as 1h; at least ${EVERY.least / 60}m`, duration('--every'))
    .option('--format <format>', `${SOURCE_FORMATS.join(', ')}; found out where it is empty`, (given: string) =>
      given === '' ? '' : format(given),
    )
    .option('--path <path>', 'where in JSON the entries stand: prefixes[].ip_prefix; repeatable, an empty one is none', collect)
    .option('--where <name=value>', 'with --path: only entries of objects that say so, such as service=CLOUDFRONT')
    .option('--collection <collection>', 'id, alias or title of the collection of a TAXII server')
    .option('--column <column>', `${COLUMN_HELP} An empty one is none.`)
    .option('--skip <lines>', SKIP_HELP, wholeNumber('--skip', 0, MOST_SKIPPED))
    .option('--copies <list>', 'a list that it copies in part; repeatable, an empty one is none', collect)
    .option(
      '--auth <kind>',
      `as what its secret is sent: ${AUTH_KINDS.join(', ')}; none takes it away`,
      oneOf('--auth', [...AUTH_KINDS, 'none']),
    )
    .option('--auth-header <name>', 'the name of the header, such as X-Api-Key')
    .option('--secret-file <file>', 'file with the secret (basic: user:password), - for standard input; it is kept encrypted');
  for (const guard of GUARD_NAMES) {
    const row = SOURCE_GUARDS[guard];
    const option = `--${row.field.replaceAll('_', '-')}`;
    if (!('least' in row)) c.option(option, row.help).option(option.replace('--', '--no-'), 'it may not');
    else
      c.option(
        `${option} <${row.value}>`,
        row.help,
        row.value === 'duration' ? duration(option) : wholeNumber(option, row.least, row.most),
      );
  }
  return c;
}

const orNull = (given: string) => (given === '' ? null : given);
const orNone = (given: readonly string[]) => given.filter((each) => each !== '');

/** What the options set; an empty text unsets. */
export function settingsGiven(options: SourceOptions): GivenSettings {
  const { url, purpose, every, format: form, path, where, collection, column, skip, copies } = options;
  const guards = GUARD_NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]));
  const reading = {
    ...(form !== undefined && { format: form === '' ? null : form }),
    ...(path !== undefined && { paths: orNone(path) }),
    ...(where !== undefined && { condition: orNull(where) }),
    ...(collection !== undefined && { collection: orNull(collection) }),
    ...(column !== undefined && { column: orNull(column) }),
    ...(skip !== undefined && { skip }),
  };
  return {
    ...(url !== undefined && { url }),
    ...(purpose !== undefined && { purpose }),
    ...(every !== undefined && { every }),
    ...(copies !== undefined && { copies: orNone(copies) }),
    ...(Object.keys(reading).length > 0 && { reading }),
    ...(guards.length > 0 && { guards: Object.fromEntries(guards) as Partial<SourceGuards> }),
  };
}

/** Bytes of a file with a secret, at most. */
const LONGEST = 8192;

/** What the options say of a secret, whose file is read. A line end behind it is none of it. */
export async function secretGiven({ auth, authHeader, secretFile }: SourceOptions): Promise<GivenSecret> {
  const given = {
    ...(auth !== undefined && { auth: auth === 'none' ? null : auth }),
    ...(authHeader !== undefined && { authHeader }),
  };
  if (secretFile === undefined) return given;
  return { ...given, secret: await readSecretFile(secretFile) };
}

/** The secret in a file, `-` for standard input. */
export async function readSecretFile(file: string): Promise<string> {
  const content = file === '-' ? await text(process.stdin) : readSecret(file);
  return content.slice(0, LONGEST).replace(/\r?\n$/, '');
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WeirError('USAGE', `--secret-file cannot be read: ${(error as Error).message}`);
  }
}
