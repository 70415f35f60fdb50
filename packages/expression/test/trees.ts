/** Random trees of the packaged WAF scheme, as the parser would build them. */
import fc from 'fast-check';
import { type Argument, EACH, type Expression, type Index, type Item, type Literal, type Value } from '../ast.ts';
import { encodeText } from '../bytes.ts';
import { type Field, packagedSchemes } from '../scheme.ts';
import type { FunctionSignature } from '../signature.ts';
import { arrayOf, BOOL, BOOL_ARRAY, BYTES, INT, IP, type Type } from '../types.ts';

const { names } = packagedSchemes().waf_rule;
const fields = [...names.values()].filter((definition): definition is Field => definition.kind === 'field');
const fieldsOf = (type: Type) => fields.filter((field) => field.type === type);
const signature = (name: string) => names.get(name) as FunctionSignature;

/** Relevant to some function: values and literals match. */
const TELLING = [
  '',
  'a',
  'A',
  'b',
  '1',
  '/a/*',
  '/a/xyz',
  'x=1&y=2&x',
  '%41+%u0042',
  '%2541',
  'YWI=',
  'YWI',
  '{"a":1,"b":"é"}',
  '[1,2,"a"]',
  '*',
  'É',
  'é',
].map(encodeText);
const anyBytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 8 });
export const bytes = fc.oneof(anyBytes, fc.constantFrom(...TELLING));
export const int = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -9n, max: 300n }),
  fc.constantFrom(0n, 1n, 2n),
);
export const address = fc.oneof(
  fc.constantFrom('\x01\x02\x03\x04', '\0\0\0\0\0\0\0\0\0\0\xff\xff\x01\x02\x03\x04', '\0\0\0\0', `${'\0'.repeat(15)}\x01`),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), minLength: 4, maxLength: 4 }),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), minLength: 16, maxLength: 16 }),
);
const wildcard = fc.constantFrom('', '*', '/a/*', 'a\\*b', '\\\\*\\\\', '\xff*', '*"*');
const regex = fc.constantFrom('', 'a', '^/a"b"#$', '[a"b]+', '\\d{1,3}', '(?i)x|y', '\\"', 'a"##b', '(?u)\\p{L}é', 'a\nb');

function literal(type: Type): fc.Arbitrary<Literal> {
  const value = type === INT ? int : type === IP ? address : bytes;
  return (value as fc.Arbitrary<bigint | string>).map((value) => ({ kind: 'literal', type, value }) as Literal);
}

function options(...values: readonly string[]): fc.Arbitrary<Literal> {
  return fc.constantFrom(...values).map((value) => ({ kind: 'literal', type: BYTES, value: encodeText(value) }));
}

function range<T extends bigint | string>(values: fc.Arbitrary<T>): fc.Arbitrary<Item> {
  return fc.tuple(values, values).map(([a, b]) => {
    const sameFamily = typeof a === 'bigint' || a.length === (b as string).length;
    const [first, last] = !sameFamily ? [a, a] : a <= b ? [a, b] : [b, a];
    return { first, last } as Item;
  });
}

function items(type: Type): fc.Arbitrary<Item[]> {
  const item = type === INT ? range(int) : type === IP ? range(address) : bytes;
  return fc.array(item as fc.Arbitrary<Item>, { maxLength: 4 });
}

/** Of the indexed element. */
function indexed(source: Value['source'], indexes: readonly Index[]): Value {
  let type = source.type;
  for (const _ of indexes) type = type.of!;
  return { kind: 'value', type, source, indexes, mapped: indexes.filter((index) => index === EACH).length };
}

function call(name: string, list: readonly Argument[]): Value['source'] {
  const returns = signature(name).returns ?? list[0].type;
  const each = list[0].kind === 'value' && list[0].mapped > 0;
  return { kind: 'call', type: each ? arrayOf(returns) : returns, signature: signature(name), arguments: list };
}

export const NAMES = ['a', 'b', 'é', ''];
const headers = fc.constantFrom(...fields.filter((field) => field.type.text === 'Map(Array(Bytes))'));
const name = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 5 }), fc.constantFrom(...NAMES));
const position = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 2 }));

/** Without `[*]`. */
function single(type: Type, depth: number): fc.Arbitrary<Value> {
  const choices: fc.Arbitrary<Value>[] = [];
  if (fieldsOf(type).length > 0) choices.push(fc.constantFrom(...fieldsOf(type)).map((field) => indexed(field, [])));
  if (type === BYTES) choices.push(fc.tuple(headers, name, position).map(([field, key, at]) => indexed(field, [key, at])));
  if (depth > 0) choices.push(...calls(type, depth));
  return fc.oneof(...choices);
}

function calls(type: Type, depth: number): fc.Arbitrary<Value>[] {
  const of = (made: fc.Arbitrary<Value['source']>, indexes: readonly Index[] = []) => made.map((source) => indexed(source, indexes));
  const inner = fc.memo((d) => single(BYTES, d))(depth - 1);
  const names = fc.array(literal(BYTES), { minLength: 1, maxLength: 2 });
  const path = fc.array(fc.oneof(literal(BYTES), literal(INT)), { minLength: 1, maxLength: 2 });
  if (type === BOOL) return ['starts_with', 'ends_with'].map((name) => of(fc.tuple(inner, literal(BYTES)).map((list) => call(name, list))));
  if (type === INT) {
    return [
      of(inner.map((value) => call('len', [value]))),
      of(fc.tuple(headers, name).map(([field, key]) => call('len', [indexed(field, [key])]))),
      of(fc.tuple(inner, path).map(([value, path]) => call('json_lookup_integer', [value, ...path]))),
    ];
  }
  if (type === IP) return [of(fc.tuple(single(IP, 0), literal(INT), literal(INT)).map((list) => call('cidr', list)))];
  return [
    of(inner.map((value) => call('lower', [value]))),
    of(inner.map((value) => call('decode_base64', [value]))),
    of(fc.tuple(inner, literal(BYTES), inner).map((list) => call('concat', list))),
    of(fc.tuple(inner, literal(INT)).map((list) => call('substring', list))),
    of(fc.tuple(inner, literal(INT), literal(INT)).map((list) => call('substring', list))),
    of(fc.tuple(inner, literal(BYTES)).map((list) => call('remove_bytes', list))),
    of(fc.tuple(inner, names).map(([value, names]) => call('remove_query_args', [value, ...names]))),
    of(fc.tuple(inner, path).map(([value, path]) => call('json_lookup_string', [value, ...path]))),
    of(inner.map((value) => call('url_decode', [value]))),
    of(fc.tuple(inner, options('u', 'r', 'ur', 'x')).map((list) => call('url_decode', list))),
    of(inner.map((value) => call('uuid4', [value]))),
    of(
      fc
        .tuple(inner, options('/a/*', 'a?', '*', '*a*b', 'é', ''), options('/b/$1', '$0$$', '$'.concat('{1}x'), '$1x'))
        .map((list) => call('wildcard_replace', list)),
    ),
    of(fc.tuple(inner, options('A*', '*%'), options('<$1>'), options('s', 'i', '')).map((list) => call('wildcard_replace', list))),
    of(
      fc.tuple(headers, name, headers, name).map(([a, x, b, y]) => call('concat', [indexed(a, [x]), indexed(b, [y])])),
      [1],
    ),
    of(single(IP, 0).map((argument) => call('to_string', [argument]))),
    of(single(INT, 0).map((argument) => call('to_string', [argument]))),
    of(truth(depth - 1).map((argument) => call('to_string', [argument]))),
    of(
      elements(depth - 1).map((value) => call('upper', [value])),
      [0],
    ),
  ];
}

/** Strings under `[*]`. */
function elements(depth: number): fc.Arbitrary<Value> {
  const plain = fc.oneof(
    fc.tuple(headers, name).map(([field, key]) => indexed(field, [key, EACH])),
    headers.map((field) => indexed(field, [EACH, EACH])),
    fc.constantFrom(...fieldsOf(arrayOf(BYTES))).map((field) => indexed(field, [EACH])),
  );
  if (depth <= 0) return plain;
  return fc.oneof(
    plain,
    elements(depth - 1).map((value) => indexed(call('lower', [value]), [EACH])),
    elements(depth - 1).map((value) => indexed(call('uuid4', [value]), [EACH])),
    fc.tuple(elements(depth - 1), single(BYTES, 0)).map(([value, other]) => indexed(call('concat', [value, other]), [EACH])),
  );
}

function compare(left: Value): fc.Arbitrary<Expression> {
  const type = left.mapped > 0 ? BOOL_ARRAY : BOOL;
  const of = <T>(op: string, right: fc.Arbitrary<T>) =>
    right.map((right) => ({ kind: 'comparison', type, left, op, right }) as unknown as Expression);
  if (left.type === BOOL) return fc.constant({ kind: 'comparison', type, left, op: 'is true' });
  const tests = [fc.constantFrom('eq', 'ne', 'ge', 'le', 'gt', 'lt').chain((op) => of(op, literal(left.type))), of('in', items(left.type))];
  if (left.type === INT) tests.push(of('bitwise_and', int));
  if (left.type === BYTES)
    tests.push(of('contains', bytes), of('wildcard', wildcard), of('strict wildcard', wildcard), of('matches', regex));
  return fc.oneof(...tests);
}

function joined(type: Type, operand: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(fc.constantFrom('or', 'xor', 'and'), fc.array(operand, { minLength: 2, maxLength: 3 }))
    .map(([op, items]) => ({ kind: 'combination', type, op, items }) as Expression);
}

function negated(argument: Expression): Expression {
  return { kind: 'not', type: argument.type, argument };
}

/** Type Array(Bool). */
function truths(depth: number): fc.Arbitrary<Expression> {
  const plain = elements(depth).chain(compare);
  if (depth <= 0) return plain;
  const inner = truths(depth - 1);
  return fc.oneof(plain, inner.map(negated), joined(BOOL_ARRAY, inner));
}

/** Type Bool. */
export function truth(depth: number): fc.Arbitrary<Expression> {
  const plain = fc
    .constantFrom(BYTES, INT, IP, BOOL)
    .chain((type) => single(type, depth))
    .chain(compare);
  if (depth <= 0) return plain;
  const inner = truth(depth - 1);
  const bare = elements(depth - 1).map(
    (value): Value => indexed(call('starts_with', [value, { kind: 'literal', type: BYTES, value: '' }]), []),
  );
  const listed = bare.map((left): Expression => ({ kind: 'comparison', type: BOOL_ARRAY, left, op: 'is true' }));
  const quantified = fc
    .tuple(
      fc.constantFrom('any' as const, 'all' as const),
      fc.oneof<fc.Arbitrary<Expression | Value>[]>(truths(depth - 1), truths(depth - 1), bare, listed),
    )
    .map(([op, argument]): Expression => ({ kind: 'quantifier', type: BOOL, op, argument }));
  return fc.oneof(plain, quantified, inner.map(negated), joined(BOOL, inner));
}
