/** Builds options from the schema of an operation (SPEC D48.2). */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { TSchema } from 'typebox';
import { codeOf, WeirError } from '../../errors.ts';
import type { Operation } from '../../manage/operation.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { readDuration } from '../../text/duration.ts';
import { type Fields, fieldsOf } from '../client/client.ts';

/** Overrides of the schema. */
interface OptionRow {
  /** Name without dashes; default: the field. */
  readonly as?: string;
  readonly help?: string;
  /** A word for no value, like the empty text. */
  readonly unset?: string;
  readonly fallback?: string | number;
  readonly isFile?: true;
  /** Joins the values of a repeatable option; throws USAGE. */
  joined?(texts: readonly string[]): string;
  /** Throws USAGE. */
  read?(text: string): unknown;
}

export type OptionRows = Readonly<Record<string, OptionRow>>;

/** The keywords of JSON Schema that options use. */
interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly description?: string;
  readonly 'x-unit'?: 's' | 'm' | 'h' | 'd' | 'w';
  readonly writeOnly?: boolean;
}

export interface FieldOption {
  readonly field: string;
  readonly long: string;
  readonly option: Option;
  readonly row: OptionRow;
  readonly shape: Shape;
}

const typesOf = ({ type, anyOf = [], enum: words = [] }: Shape): readonly string[] =>
  [type ?? [], ...anyOf.map((each) => [...typesOf(each)]), words.includes(null) ? 'null' : []].flat() as string[];
const wordsOf = (shape: Shape): readonly unknown[] => [shape, ...(shape.anyOf ?? [])].flatMap((each) => each.enum ?? []);

function valueName(name: string, shape: Shape, types: readonly string[], { isFile }: OptionRow): string {
  if (isFile) return 'file';
  if (shape['x-unit'] !== undefined) return 'duration';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (wordsOf(shape).length === 0) return 'text';
  return name.includes('-') ? 'word' : name;
}

const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];

/** A flag for a boolean; repeatable for an array. */
function optionOf(field: string, schema: TSchema, row: OptionRow = {}): FieldOption {
  const shape = schema as Shape;
  const types = typesOf(shape);
  const isList = types.includes('array');
  const name = row.as ?? field.replaceAll('_', '-');
  const long = `--${name}`;
  const value = valueName(name, isList ? (shape.items ?? {}) : shape, types, row);
  const words = wordsOf(isList ? (shape.items ?? {}) : shape).filter((word) => word !== null);
  const help = (row.help ?? shape.description ?? words.join(', ')).replace(/\.$/, '');
  const explained = words.filter((word) => help.split(/[^\w-]+/).includes(String(word)));
  const more = isList ? '; repeatable' : words.length > 0 && explained.length < 2 ? `: ${words.join(', ')}` : '';
  const option = new Option(types.includes('boolean') ? long : `${long} <${value}>`, `${help}${more}`);
  if (isList || row.joined !== undefined) option.argParser(collect as never);
  if (row.fallback !== undefined) option.default(String(row.fallback));
  return { field, long, option, row, shape };
}

export const optionsOf = (operation: Operation, rows: OptionRows, omit: readonly string[]): FieldOption[] =>
  Object.entries(fieldsOf(operation)).flatMap(([field, schema]) => (omit.includes(field) ? [] : [optionOf(field, schema, rows[field])]));

export function addOptions(command: Command, options: readonly FieldOption[]): void {
  for (const { long, option, shape } of options) {
    command.addOption(option);
    if (typesOf(shape).join() === 'boolean,null') command.option(long.replace('--', '--no-'), 'it may not');
  }
}

/** Leaves a wrong text as it is: the schema refuses it. */
export function readValue(given: string, shape: Shape, { unset, read }: OptionRow = {}): unknown {
  const types = typesOf(shape);
  if (types.includes('null') && (given === '' || given === unset)) return null;
  if (read !== undefined) return read(given);
  if (shape['x-unit'] !== undefined) return readDuration(given, shape['x-unit']) ?? given;
  if (types.includes('integer') && /^-?\d{1,15}$/.test(given)) return Number(given);
  if (types.includes('number') && /^-?\d+(\.\d+)?$/.test(given)) return Number(given);
  return given;
}

export async function givenBy(options: readonly FieldOption[], parsed: Fields): Promise<Fields> {
  const found: Record<string, unknown> = {};
  for (const { field, option, row, shape } of options) {
    const given = parsed[option.attributeName()];
    if (given === undefined) continue;
    if (row.isFile) found[field] = await secretIn(String(given));
    else if (row.joined !== undefined) found[field] = row.joined(given as string[]);
    else if (Array.isArray(given)) found[field] = listOf(given as string[], shape, row);
    else found[field] = typeof given === 'string' ? readValue(given, shape, row) : given;
  }
  return found;
}

const listOf = (given: readonly string[], { items = {} }: Shape, row: OptionRow) =>
  given.filter((each) => each !== '' && each !== row.unset).map((each) => readValue(each, items, row));

/** Replaces fields by options in the message of an error. */
export function namingOptions(error: unknown, options: readonly FieldOption[], parsed: Fields): unknown {
  const faults = codeOf(error) === 'USAGE' ? (error as Error).cause : undefined;
  if (!Array.isArray(faults)) return error;
  return new WeirError('USAGE', (faults as FieldFault[]).map((fault) => faultText(fault, options, parsed)).join('\n'));
}

function faultText({ field, message }: FieldFault, options: readonly FieldOption[], parsed: Fields): string {
  const [name, item] = field.split('.');
  const text = message.replace(/, or a duration .*$|,? (or )?null$/, '').replace('an integer', 'a whole number');
  if (name === 'request') return text;
  const option = options.find((each) => each.field === name);
  const all = option && parsed[option.option.attributeName()];
  const value = item === undefined ? all : (all as unknown[] | undefined)?.[Number(item)];
  const isShown = typeof value === 'string' && !option?.row.isFile && /^must (be (an? |one of)|match)/.test(text);
  const unit = option?.shape['x-unit'];
  const how = isShown && unit !== undefined ? `: ${UNITS[unit]}, or with a unit such as 12h, 7d` : '';
  const long = option?.long ?? (item === undefined ? name : `--${name}-${item}`);
  return `${long} ${text}${isShown ? `, not ${JSON.stringify(value)}` : ''}${how}`;
}
const UNITS = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days', w: 'weeks' } as const;

/** Characters. */
const LONGEST_SECRET = 8192;

/** `-`: standard input. The line end does not count. */
async function secretIn(file: string): Promise<string> {
  const content = file === '-' ? await text(process.stdin) : readSecret(file);
  return content.slice(0, LONGEST_SECRET).replace(/\r?\n$/, '');
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WeirError('USAGE', `--secret-file cannot be read: ${(error as Error).message}`);
  }
}
