/**
 * A second evaluator, from the rules (SPEC D19.1 to D19.6) in the simplest way: bytes are arrays of numbers, integers are bigints, without
 * compilation. It shares only the tree with the first one. Slow, for comparison only.
 */
import { type Argument, type Call, EACH, type Expression, type Test, type Value as ValueNode } from '../ast.ts';
import { checkRegex } from '../regex/check.ts';
import { programOf } from '../regex/run/program.ts';
import { simulate } from '../regex/run/simulate.ts';
import { IP } from '../types.ts';
import { applyPlain } from './plain-functions.ts';
import { type Bytes, compareBytes, type Plain, type PlainRequest, toBytes, utf8 } from './plain-values.ts';

export function evaluatePlain(ast: Expression, request: PlainRequest): boolean {
  const result = truthOf(ast, request);
  if (typeof result !== 'boolean') throw new Error('not a single truth value');
  return result;
}

function truthOf(ast: Expression, request: PlainRequest): boolean | boolean[] {
  switch (ast.kind) {
    case 'not': {
      const inner = truthOf(ast.argument, request);
      return Array.isArray(inner) ? inner.map((truth) => !truth) : !inner;
    }
    case 'combination': {
      const join = (a: boolean, b: boolean) => (ast.op === 'and' ? a && b : ast.op === 'or' ? a || b : a !== b);
      return ast.items
        .map((item) => truthOf(item, request))
        .reduce((a, b) => {
          if (!Array.isArray(a) || !Array.isArray(b)) return join(a as boolean, b as boolean);
          const both: boolean[] = [];
          for (let i = 0; i < Math.min(a.length, b.length); i++) both.push(join(a[i], b[i]));
          return both;
        });
    }
    case 'quantifier': {
      let truths: boolean[];
      if (ast.argument.kind === 'value') {
        const value = readValue(ast.argument, request);
        if (value === undefined) return false;
        truths = truthsOf(value);
      } else truths = truthOf(ast.argument, request) as boolean[];
      return ast.op === 'any' ? truths.some((truth) => truth) : truths.every((truth) => truth);
    }
    case 'comparison': {
      const value = readValue(ast.left, request);
      if (ast.left.mapped > 0) {
        const elements = value === undefined ? [] : (value.value as readonly Plain[]);
        return elements.map((element) => testOf(ast, element, ast.left.type === IP));
      }
      if (ast.op === 'is true' && ast.type.kind === 'Array') return value === undefined ? [] : truthsOf(value);
      if (value === undefined) return ast.op === 'ne';
      return testOf(ast, value, ast.left.type === IP);
    }
  }
}

const truthsOf = (value: Plain): boolean[] => (value.value as readonly Plain[]).map((element) => element.value as boolean);

/** Under `[*]` an array of the elements. */
function readValue(node: ValueNode, request: PlainRequest): Plain | undefined {
  const source = node.source.kind === 'field' ? request.get(node.source.name) : callOf(node.source, request);
  if (source === undefined) return undefined;
  let values: readonly Plain[] = [source];
  let many = false;
  for (const index of node.indexes) {
    const next: Plain[] = [];
    for (const value of values) {
      if (value.is === 'array') {
        if (index === EACH) next.push(...value.value);
        else if ((index as number) < value.value.length) next.push(value.value[index as number]);
      } else if (value.is === 'map') {
        const sorted = [...value.value].sort(([a], [b]) => compareBytes(a, b));
        if (index === EACH) next.push(...sorted.map(([, inner]) => inner));
        else for (const [key, inner] of sorted) if (compareBytes(key, utf8(index as string)) === 0) next.push(inner);
      }
    }
    if (index === EACH) many = true;
    else if (!many && next.length === 0) return undefined;
    values = next;
  }
  return many ? { is: 'array', value: values } : values[0];
}

function callOf(call: Call, request: PlainRequest): Plain | undefined {
  const [first, ...others] = call.arguments;
  const rest = others.map((argument) => argumentOf(argument, request));
  const value = argumentOf(first, request);
  if (first.kind !== 'value' || first.mapped === 0) return applyPlain(call.signature.name, value, rest);
  if (value === undefined) return undefined;
  const results = (value.value as readonly Plain[]).map((element) => applyPlain(call.signature.name, element, rest));
  return { is: 'array', value: results.filter((result) => result !== undefined) };
}

function argumentOf(argument: Argument, request: PlainRequest): Plain | undefined {
  if (argument.kind === 'value') return readValue(argument, request);
  if (argument.kind === 'literal') {
    return typeof argument.value === 'bigint' ? { is: 'int', value: argument.value } : { is: 'bytes', value: toBytes(argument.value) };
  }
  const truth = truthOf(argument, request);
  if (!Array.isArray(truth)) return { is: 'bool', value: truth };
  return { is: 'array', value: truth.map((value) => ({ is: 'bool', value })) };
}

/** The regular expressions of `trees.ts` in JavaScript, on text of one character per byte. */
const REGEXES: Record<string, (value: Bytes) => boolean> = Object.fromEntries(
  (
    [
      ['', /(?:)/],
      ['a', /a/],
      ['^/a"b"#$', /^\/a"b"#$/],
      ['[a"b]+', /[a"b]/],
      ['\\d{1,3}', /[0-9]/],
      ['(?i)x|y', /[xXyY]/],
      ['\\"', /"/],
      ['a"##b', /a"##b/],
      ['a\nb', /a\nb/],
    ] as const
  ).map(([pattern, regex]) => [pattern, (value: Bytes) => regex.test(Buffer.from(value).toString('latin1'))]),
);
REGEXES['(?u)\\p{L}é'] = (value) => /\p{L}é/u.test(Buffer.from(value).toString('utf8'));

/** Any other pattern: its automaton, state by state. */
function automatonOf(pattern: string): (value: Bytes) => boolean {
  const program = programOf(checkRegex(pattern).tree!, 100_000);
  return (value) => simulate(program, Buffer.from(value).toString('latin1'));
}

function testOf(test: Test, value: Plain, isAddress: boolean): boolean {
  switch (test.op) {
    case 'is true':
      return value.value === true;
    case 'in':
      return test.right.some((item) => {
        if (typeof item === 'string') return compareBytes(value.value as Bytes, toBytes(item)) === 0;
        if (typeof item.first === 'bigint')
          return item.first <= (value.value as bigint) && (value.value as bigint) <= (item.last as bigint);
        const [first, last, bytes] = [toBytes(item.first), toBytes(item.last as string), value.value as Bytes];
        return first.length === bytes.length && compareBytes(first, bytes) <= 0 && compareBytes(bytes, last) <= 0;
      });
    case 'bitwise_and':
      return ((value.value as bigint) & test.right) !== 0n;
    case 'contains': {
      const needle = toBytes(test.right);
      const bytes = value.value as Bytes;
      for (let at = 0; at + needle.length <= bytes.length; at++) if (needle.every((byte, i) => bytes[at + i] === byte)) return true;
      return false;
    }
    case 'matches':
      return (REGEXES[test.right] ?? automatonOf(test.right))(value.value as Bytes);
    case 'wildcard':
      return wildcard(fold(toBytes(test.right)), fold(value.value as Bytes));
    case 'strict wildcard':
      return wildcard(toBytes(test.right), value.value as Bytes);
    default: {
      const right = test.right.value;
      if (typeof right === 'bigint')
        return ordered(test.op, (value.value as bigint) < right ? -1 : (value.value as bigint) > right ? 1 : 0);
      const [a, b] = [value.value as Bytes, toBytes(right)];
      if (isAddress && a.length !== b.length) return test.op === 'ne';
      return ordered(test.op, compareBytes(a, b));
    }
  }
}

function ordered(op: string, sign: number): boolean {
  return { eq: sign === 0, ne: sign !== 0, lt: sign < 0, le: sign <= 0, gt: sign > 0, ge: sign >= 0 }[op]!;
}

const fold = (bytes: Bytes): Bytes => bytes.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** Tries every length for every star. */
function wildcard(pattern: Bytes, value: Bytes): boolean {
  if (pattern.length === 0) return value.length === 0;
  if (pattern[0] === 42) {
    for (let taken = 0; taken <= value.length; taken++) if (wildcard(pattern.slice(1), value.slice(taken))) return true;
    return false;
  }
  const escaped = pattern[0] === 92 ? 1 : 0;
  return value.length > 0 && value[0] === pattern[escaped] && wildcard(pattern.slice(escaped + 1), value.slice(1));
}
