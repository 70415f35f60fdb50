/** A command that is an operation of management: one row (SPEC D48.1 to D48.5). */
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type Client, type Fields, fieldsOf, listName, operationNamed, pathNames } from '../client/client.ts';
import { openClient } from '../client/open.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, table } from '../context.ts';
import { inWorkspace } from '../usage.ts';
import { addOptions, givenBy, namingOptions, type OptionRows, optionsOf, readValue } from './options.ts';

/** A member of the item, or a function of it. */
type Columns<I> = Readonly<Record<string, keyof I | ((item: I) => unknown)>>;

/** The argument of a row's functions. */
export interface Call {
  readonly client: Client;
  readonly context: Context;
  readonly given: Fields;
  readonly args: Readonly<Record<string, string>>;
  /** The options as commander has them. */
  // biome-ignore lint/suspicious/noExplicitAny: commander returns options untyped
  readonly options: any;
  /** Fields computed from the current state. */
  change(state: never): Fields;
}

/** `A`: the answer of the operation; `T`: the value for `--json`. */
export interface Row<A, T = A> {
  /** Name and arguments; an argument is a parameter of the path or a field. */
  readonly words: string;
  readonly operation: string;
  readonly summary: string;
  readonly options?: OptionRows;
  /** Fields without an option. */
  readonly omit?: readonly string[];
  /** More options, with their help. */
  readonly flags?: Readonly<Record<string, string>>;
  /** More fields of the request. */
  given?(call: Call): Fields | Promise<Fields>;
  /** Fields computed from the current state of the edited object. */
  change?(state: never, call: Call): Fields;
  /** Finds the workspace if the command names none; undefined: the only workspace. */
  anywhere?(store: StoreReads, args: Readonly<Record<string, string>>, context: Context): Promise<string | undefined>;
  /** A question about the preview; undefined: no confirmation. */
  confirm?(preview: A, call: Call): string | undefined;
  /** Replaces the single request. */
  run?(call: Call): Promise<A>;
  /** The value for `--json`; default: the answer, or the items of a list. */
  json?(answer: A, call: Call): T | Promise<T>;
  /** The text: a table of the items, or the result of `show`. */
  readonly columns?: T extends readonly (infer I)[] ? Columns<I> : never;
  show?(value: T): string;
}

// biome-ignore lint/suspicious/noExplicitAny: each row has types of its own
export type AnyRow = Row<any, any>;

export const row = <A, T = A>(row: Row<A, T>): AnyRow => row;

export const argumentsOf = ({ words }: Pick<AnyRow, 'words'>): string[] =>
  [...words.matchAll(/[<[]([\w-]+)(?:\.\.\.)?[>\]]/g)].map(([, name]) => name!);

/** The client sets these. */
const OF_CLIENT = ['preview', 'confirmed', 'limit', 'after'];

export const omitted = (each: AnyRow): string[] =>
  [...OF_CLIENT, ...argumentsOf(each), ...(each.omit ?? [])].filter((name) => !Object.hasOwn(each.options ?? {}, name));

export const addRows = (add: AddCommand, rows: readonly AnyRow[]): void => {
  for (const each of rows) addRow(add, each);
};

function addRow(add: AddCommand, each: AnyRow): void {
  const operation = operationNamed(each.operation);
  const options = optionsOf(operation, each.options ?? {}, omitted(each));
  const names = argumentsOf(each);
  add(
    each.words,
    each.summary,
    (command) => {
      if (!names.includes('workspace')) inWorkspace(command);
      addOptions(command, options);
      for (const [flag, help] of Object.entries(each.flags ?? {})) command.option(flag, help);
      return each.confirm === undefined ? command : command.option('--yes', 'do it without asking');
    },
    {
      isOperation: true,
      async run(context, values, parsed) {
        const args: Call['args'] = Object.fromEntries(names.flatMap((name, i) => (values[i] === undefined ? [] : [[name, values[i]]])));
        let given: Fields = {};
        try {
          given = await givenBy(options, parsed);
          const client = await openClient(context, {
            workspace: args.workspace ?? parsed.workspace,
            writes: operation.method !== 'GET',
            anywhere: each.anywhere && ((store) => each.anywhere!(store, args, context)),
          });
          const fields = fieldsOf(operation);
          const known = [...pathNames(operation), ...Object.keys(fields)];
          for (const [name, text] of Object.entries(args)) {
            // The row itself reads other arguments.
            if (!known.includes(name)) continue;
            const isRepeated = each.words.includes(`${name}...`);
            const value = isRepeated ? values.slice(names.indexOf(name)) : readValue(text, fields[name] ?? {});
            given = { ...given, [name]: value };
          }
          const change: Call['change'] = (state) => {
            const more = each.change?.(state, call) ?? {};
            requireChange(each, { ...given, ...more });
            return more;
          };
          const about = { client, context, args, options: parsed, change };
          given = { ...given, ...(await each.given?.({ ...about, given })) };
          const call: Call = { ...about, given };
          const answer = await (each.run?.(call) ?? answerOf(each, call));
          return each.json === undefined ? answer : await each.json(answer, call);
        } catch (error) {
          throw namingOptions(error, options, parsed);
        }
      },
      show: (value) => textOf(each, value),
    },
  );
}

function requireChange({ words, operation: name }: AnyRow, given: Fields): void {
  const operation = operationNamed(name);
  const names = pathNames(operation);
  if (operation.method === 'PATCH' && Object.entries(given).every(([field, value]) => names.includes(field) || value === undefined))
    throw new WeirError('USAGE', `name what to set; weir ${words.replace(/ [<[].*/, '')} --help lists it`);
}

async function answerOf(each: AnyRow, call: Call): Promise<unknown> {
  const { client, context, given, options, change } = call;
  const { operation: name } = each;
  const operation = operationNamed(name);
  if (each.confirm !== undefined) {
    const tag = operation.edits && (await client.state(name, given)).tag;
    const question = each.confirm(await client.call(name, { ...given, preview: true }, tag), call);
    if (question !== undefined) await confirm(context, question, options.yes);
    const isConfirmed = Object.hasOwn(fieldsOf(operation), 'confirmed') ? { confirmed: true } : {};
    return client.call(name, { ...given, ...isConfirmed }, tag);
  }
  if (operation.edits) return client.edit(name, given, change);
  return listName(operation) === undefined ? client.call(name, given) : client.items(name, given);
}

function textOf({ columns, show }: AnyRow, value: unknown): string {
  if (columns === undefined) return show!(value);
  const cells = Object.values(columns as Columns<Fields>);
  return table(Object.keys(columns), value as readonly Fields[], (item) =>
    cells.map((cell) => (typeof cell === 'function' ? cell(item) : item[cell])),
  );
}
