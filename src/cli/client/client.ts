/** Calls operations of management, on the local store or over HTTP (SPEC D48.1). */
import { hasCode, WeirError } from '../../errors.ts';
import type { Operation } from '../../manage/operation.ts';
import { OPERATIONS } from '../../manage/table.ts';
import { compile } from '../../signal/validate.ts';

/** By name; undefined: absent. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Parts {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Fields;
  readonly body: Fields;
}

export interface Answer {
  readonly body: unknown;
  /** Of the state in the answer. */
  readonly tag: string | undefined;
}

interface Page<T> {
  readonly items: readonly T[];
  /** null: the last page. */
  readonly next: string | null;
}

/** Rejects with a WeirError; its cause lists faults of fields. `tag`: the state that an edit expects. */
export type Send = (operation: Operation, parts: Parts, tag: string | undefined) => Promise<Answer>;

export interface Client {
  call<T>(operation: string, given?: Fields, tag?: string): Promise<T>;
  /** Reads all pages, up to `limit` items. */
  items<T>(operation: string, given?: Fields, limit?: number): Promise<T[]>;
  pages<T>(operation: string, given: Fields, limit?: number): AsyncIterable<Page<T>>;
  /** The object that an operation edits. */
  state(operation: string, given: Fields): Promise<Answer>;
  /** Edits the current state, and tries again if another edit was faster. */
  edit<T>(operation: string, given: Fields, change?: (state: never) => Fields): Promise<T>;
}

const ATTEMPTS = 5;
const PARAMETER = /\{(\w+)\}/g;

export function operationNamed(name: string): Operation {
  const found = OPERATIONS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

export const pathNames = ({ path }: Operation): string[] => [...path.matchAll(PARAMETER)].map(([, name]) => name!);

export const pathOf = ({ path }: Operation, params: Parts['params']): string =>
  path.replaceAll(PARAMETER, (_, name: string) => encodeURIComponent(params[name]!));

export const fieldsOf = ({ query, body }: Operation) => ({ ...query?.properties, ...body?.properties });

/** The only field of an answer, apart from `next`, if it is an array. */
export function listName({ answer }: Operation): string | undefined {
  const { next: _next, ...fields } = (answer as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
  const [[name, schema] = [], ...others] = Object.entries(fields);
  return others.length === 0 && schema?.type === 'array' ? name : undefined;
}

function partsOf(operation: Operation, given: Fields): Parts {
  const parts = { params: {} as Record<string, string>, query: {} as Record<string, unknown>, body: {} as Record<string, unknown> };
  const names = pathNames(operation);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (names.includes(name)) parts.params[name] = String(value);
    else if (Object.hasOwn(operation.query?.properties ?? {}, name)) parts.query[name] = value;
    else if (Object.hasOwn(operation.body?.properties ?? {}, name)) parts.body[name] = value;
    else throw new Error(`${operation.name} takes no ${name}`);
  }
  return parts;
}

function requireFit({ query, body }: Operation, parts: Parts): void {
  const faults = [...(query === undefined ? [] : compile(query)(parts.query)), ...(body === undefined ? [] : compile(body)(parts.body))];
  if (faults.length > 0) throw new WeirError('USAGE', faults[0]!.message, { cause: faults });
}

export function clientOf(send: Send): Client {
  const ask = async (name: string, given: Fields, tag?: string) => {
    const operation = operationNamed(name);
    const parts = partsOf(operation, given);
    requireFit(operation, parts);
    return send(operation, parts, tag);
  };
  const call = async <T>(name: string, given: Fields = {}, tag?: string) => (await ask(name, given, tag)).body as T;
  const state: Client['state'] = (name, given) => {
    const operation = operationNamed(name);
    const reads = OPERATIONS.find(({ method, path }) => method === 'GET' && path === operation.path)!;
    return send(reads, partsOf(reads, Object.fromEntries(pathNames(reads).map((each) => [each, given[each]]))), undefined);
  };
  async function* pages<T>(name: string, given: Fields, limit = Number.POSITIVE_INFINITY): AsyncGenerator<Page<T>> {
    const operation = operationNamed(name);
    const most = (fieldsOf(operation).limit as { maximum?: number } | undefined)?.maximum;
    const list = Object.entries((operation.answer as unknown as { properties: object }).properties).find(
      ([, { type }]) => type === 'array',
    )![0];
    let { after } = given;
    for (let left = limit; ; ) {
      const page = most === undefined ? {} : { limit: Math.min(most, left), after };
      const body = await call<Record<string, T[]> & { next?: string | null }>(name, { ...given, ...page });
      const { [list]: items, next = null } = body;
      yield { items: items!, next };
      left -= items!.length;
      if (next === null || left <= 0) return;
      after = next;
    }
  }
  return {
    call,
    state,
    async items<T>(name: string, given: Fields = {}, limit = Number.POSITIVE_INFINITY) {
      const found: T[] = [];
      for await (const { items } of pages<T>(name, given, limit)) found.push(...items);
      return found;
    },
    pages,
    async edit<T>(name: string, given: Fields, change: (state: never) => Fields = () => ({})) {
      for (let attempt = 1; ; attempt += 1) {
        const { body, tag } = await state(name, given);
        try {
          return await call<T>(name, { ...given, ...change(body as never) }, tag);
        } catch (error) {
          if (!hasCode(error, 'CHANGED') || attempt === ATTEMPTS) throw error;
        }
      }
    },
  };
}
