/** Reading the parameters of a query, for all addresses that are polled (SPEC D5.20, D42.1). */
import type { HttpFault } from '../errors.ts';
import { meantParameter } from '../meant-parameter.ts';

/** A parameter of an address. Values are case-sensitive. */
export interface Parameter<T> {
  /** The value of a text; undefined when it is none. */
  read(text: string): T | undefined;
  /** What an error says of another value. */
  readonly expected: string;
  /** The values, where they are words. */
  readonly allowed?: readonly string[];
  /** The details of that error. */
  readonly details?: object;
}

type Values<P extends Readonly<Record<string, Parameter<unknown>>>> = { [K in keyof P]?: NonNullable<ReturnType<P[K]['read']>> };

/** A parameter that is one of these words. */
export const oneOf = <T extends string>(allowed: readonly T[]): Parameter<T> => ({
  read: (value) => allowed.find((each) => each === value),
  expected: `must be one of ${allowed.join(', ')}`,
  allowed,
});

/**
 * Reads a raw query (without its question mark). The parameters are judged in the order of their table. Faults are: a parameter that is
 * repeated or empty, an unsupported value, and an unknown name that is probably meant to be a known one. Other unknown parameters are
 * ignored.
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

/** The fault of the first unknown parameter that is probably meant to be one of `names`; undefined without any. */
export function misnamed(given: URLSearchParams, names: readonly string[]): HttpFault | undefined {
  for (const name of given.keys()) {
    const meant = names.includes(name) ? undefined : meantParameter(name, names);
    if (meant !== undefined) return fault(`There is no parameter "${name.slice(0, 100)}"; did you mean ${meant}?`);
  }
  return undefined;
}

const fault = (message: string, details: object = {}): HttpFault => ({ status: 400, message, details });
