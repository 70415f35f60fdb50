/** Requests in weir's own form: a line of JSON, `{"time": …, "request": {field: value}}` (SPEC D19.12). */
import { addressText } from '@weir/expression/address.ts';
import { type ByteString, decodeText } from '@weir/expression/bytes.ts';
import type { Layout, Value } from '@weir/expression/evaluate/value.ts';
import type { Type } from '@weir/expression/types.ts';

/** Returns the line without a line feed. */
export function neutralLine(
  layout: Layout,
  { time, fields }: { readonly time: number | null; readonly fields: Readonly<Record<string, Value>> },
): string {
  const request: Record<string, unknown> = {};
  for (const field of layout.fields) {
    const value = fields[field.name];
    if (value !== undefined) request[field.name] = jsonOf(value, field.type);
  }
  return JSON.stringify({ ...(time !== null && { time: new Date(time).toISOString() }), request });
}

function jsonOf(value: Value, type: Type): unknown {
  switch (type.kind) {
    case 'Bool':
      return value;
    case 'Int':
      return typeof value === 'bigint' ? String(value) : value;
    case 'Ip':
      return addressText(value as ByteString);
    case 'Bytes':
      return decodeText(value as ByteString) ?? { base64: Buffer.from(value as ByteString, 'latin1').toString('base64') };
    case 'Array':
      return (value as readonly Value[]).map((element) => jsonOf(element, type.of!));
    case 'Map':
      return Object.fromEntries(
        Array.from(value as ReadonlyMap<ByteString, Value>, ([key, each]) => [decodeText(key) ?? key, jsonOf(each, type.of!)]),
      );
  }
}
