/** Random request values, to compare the evaluators. */
import fc from 'fast-check';
import { toInt, type Value } from '../evaluate/value.ts';
import type { Type } from '../types.ts';
import { compareBytes, type Plain, toBytes } from './plain-values.ts';
import { address, bytes, int, NAMES } from './trees.ts';

export function plainOf(value: Value): Plain {
  if (typeof value === 'boolean') return { is: 'bool', value };
  if (typeof value === 'string') return { is: 'bytes', value: toBytes(value) };
  if (typeof value === 'number' || typeof value === 'bigint') return { is: 'int', value: BigInt(value) };
  if (Array.isArray(value)) return { is: 'array', value: value.map(plainOf) };
  return { is: 'map', value: [...(value as ReadonlyMap<string, Value>)].map(([key, inner]) => [toBytes(key), plainOf(inner)]) };
}

export function valueOfType(type: Type): fc.Arbitrary<Value> {
  switch (type.kind) {
    case 'Bool':
      return fc.boolean();
    case 'Int':
      return int.map(toInt);
    case 'Ip':
      return address;
    case 'Bytes':
      return bytes;
    case 'Array':
      return fc.array(valueOfType(type.of!), { maxLength: 3 });
    case 'Map': {
      const key = fc.constantFrom(...NAMES).map((name) => Buffer.from(name).toString('latin1'));
      const order = (a: string, b: string) => compareBytes(toBytes(a), toBytes(b));
      return fc
        .array(fc.tuple(key, valueOfType(type.of!)), { maxLength: 4 })
        .map((entries) => new Map([...new Map(entries)].sort(([a], [b]) => order(a, b))));
    }
  }
}
