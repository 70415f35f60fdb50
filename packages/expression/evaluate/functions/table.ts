/** All scheme functions (D19.5), created once per call in an expression. */
import { addressText } from '../../address.ts';
import { type ByteString, decodeText } from '../../bytes.ts';
import { lowerCase, upperCase } from '../ascii.ts';
import type { Getter } from '../compiler.ts';
import { EvaluationError, type Int, type Optional, type Request, spend, toInt, type Value } from '../value.ts';
import { networkAddress } from './address.ts';
import { decodeBase64 } from './base64.ts';
import { compileJsonLookup } from './json.ts';
import { compileRemoveArguments } from './query.ts';
import { compileUrlDecode } from './url.ts';
import { uuid4 } from './uuid.ts';
import { compileWildcardReplace } from './wildcard-replace.ts';

/** First argument and result may be missing. */
export type Apply = (first: Optional, request: Request) => Optional;

/** A literal argument after the first; null = not a literal. */
type Other = bigint | ByteString | null;

/** The arguments after the first, as literals and as getters. */
type Maker = (others: readonly Other[], getters: readonly Getter[]) => Apply;

export const FUNCTIONS: Readonly<Record<string, Maker>> = {
  lower: () => present((value: ByteString) => lowerCase(value)),
  upper: () => present((value: ByteString) => upperCase(value)),
  starts_with: ([start]) => present((value: ByteString) => value.startsWith(start as ByteString)),
  ends_with: ([end]) => present((value: ByteString) => value.endsWith(end as ByteString)),
  len: () => present((value: ByteString | readonly Value[]) => value.length),
  substring: ([from, to]) => present(compileSubstring(from as bigint, to as bigint | undefined)),
  remove_bytes: ([set]) => present(compileRemoveBytes(set as ByteString)),
  remove_query_args: (names) => present(compileRemoveArguments(names as readonly ByteString[])),
  url_decode: ([options]) => present(compileUrlDecode((options as ByteString | undefined) ?? '')),
  decode_base64: () => present(decodeBase64),
  to_string: () => present((value: Int | boolean | ByteString) => (typeof value === 'string' ? addressText(value) : String(value))),
  cidr: ([v4, v6]) => {
    const [bits4, bits6] = [Number(BigInt.asUintN(32, v4 as bigint)), Number(BigInt.asUintN(32, v6 as bigint))];
    return present((value: ByteString) => networkAddress(value, bits4, bits6));
  },
  concat: (_, getters) => compileConcat(getters),
  json_lookup_string: (path) => present(compileJsonLookup(jsonPath(path), 'string')),
  json_lookup_integer: (path) => present(compileJsonLookup(jsonPath(path), 'integer')),
  uuid4: () => present(uuid4),
  wildcard_replace: ([pattern, replacement, flag]) => {
    const texts = [decodeText(pattern as ByteString), decodeText(replacement as ByteString)];
    const [from, to] = texts;
    if (from === null || to === null) {
      return present(() => {
        throw new EvaluationError('panic', 'the pattern or the replacement of wildcard_replace is not UTF-8 text');
      });
    }
    const folded = flag !== undefined && flag !== 's';
    const replace = compileWildcardReplace(from, to, folded);
    return (value, request) => (value === undefined ? undefined : replace(value as ByteString, (bytes) => spend(request, bytes)));
  },
};

/** A missing argument gives a missing result. */
function present<T extends Value>(of: (value: T) => Optional): Apply {
  return (value) => (value === undefined ? undefined : of(value as T));
}

function jsonPath(path: readonly Other[]): (Int | ByteString)[] {
  return path.map((part) => (typeof part === 'bigint' ? toInt(part) : (part as ByteString)));
}

/** Joins the present values; missing only if all are (D19.5). */
function compileConcat(getters: readonly Getter[]): Apply {
  return (first, request) => {
    const parts: (ByteString | readonly Value[])[] = [];
    if (first !== undefined) parts.push(first as ByteString);
    for (const get of getters) {
      const part = get(request) as ByteString | readonly Value[] | undefined;
      if (part !== undefined) parts.push(part);
    }
    if (parts.length === 0) return undefined;
    spend(
      request,
      parts.reduce((sum, part) => sum + part.length, 0),
    );
    return typeof parts[0] === 'string' ? parts.join('') : (parts as (readonly Value[])[]).flat(1);
  };
}

/** Offsets count bytes; a negative one counts from the end; both are cut to the value. */
function compileSubstring(from: bigint, to: bigint | undefined): (value: ByteString) => ByteString {
  const [start, end] = [offset(from), to === undefined ? Number.POSITIVE_INFINITY : offset(to)];
  return (value) => value.slice(start, end);
}

/** Offsets past the longest value are equivalent. */
function offset(value: bigint): number {
  return Math.max(-(2 ** 40), Math.min(2 ** 40, Number(value)));
}

function compileRemoveBytes(set: ByteString): (value: ByteString) => ByteString {
  if (set === '') return (value) => value;
  const codes = Array.from(set, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  const expression = new RegExp(`[${codes.join('')}]+`, 'g');
  return (value) => value.replace(expression, '');
}
