/** SPEC D5.20, D42.1. */
import type { HttpFault } from '../errors.ts';
import { intendedParameter } from '../intended-parameter.ts';

/** Values are case-sensitive. */
export interface Parameter<T> {
  /** undefined: invalid. */
  read(text: string): T | undefined;
  readonly expected: string;
  readonly allowed?: readonly string[];
  readonly details?: object;
}

type Values<P extends Readonly<Record<string, Parameter<unknown>>>> = { [K in keyof P]?: NonNullable<ReturnType<P[K]['read']>> };

export const oneOf = <T extends string>(allowed: readonly T[]): Parameter<T> => ({
  read: (value) => allowed.find((each) => each === value),
  expected: `must be one of ${allowed.join(', ')}`,
  allowed,
});

/**
 * Reads a raw query in the order of the table. Rejects repeated, empty, unsupported and probably misspelt parameters; ignores other unknown
 * ones.
 */
export function readParameters<P extends Readonly<Record<string, Parameter<unknown>>>>(
  parameters: P,
  query: string,
): Values<P> | HttpFault {
  const given = new URLSearchParams(query);
  const names = Object.keys(parameters);
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const { read, expected, details } = parameters[name]!;
    const [text, ...more] = given.getAll(name);
    if (text === undefined) continue;
    if (more.length > 0) return fault(`${name} is given more than once`);
    if (text === '') return fault(`${name} is empty`);
    const value = read(text);
    if (value === undefined) return fault(`Unsupported ${name}: ${expected}`, details);
    values[name] = value;
  }
  return misnamed(given, names) ?? (values as Values<P>);
}

export function misnamed(given: URLSearchParams, names: readonly string[]): HttpFault | undefined {
  for (const name of given.keys()) {
    const intended = names.includes(name) ? undefined : intendedParameter(name, names);
    if (intended !== undefined) return fault(`There is no parameter "${name.slice(0, 100)}"; did you mean ${intended}?`);
  }
  return undefined;
}

const fault = (message: string, details: object = {}): HttpFault => ({ status: 400, message, details });
