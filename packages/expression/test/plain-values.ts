/** Values of the plain evaluator (plain.ts). */

/** Bytes, and addresses (4 or 16 bytes). */
export type Bytes = readonly number[];
export type Plain =
  | { readonly is: 'bool'; readonly value: boolean }
  | { readonly is: 'int'; readonly value: bigint }
  | { readonly is: 'bytes'; readonly value: Bytes }
  | { readonly is: 'array'; readonly value: readonly Plain[] }
  | { readonly is: 'map'; readonly value: readonly (readonly [Bytes, Plain])[] };

/** All fields are present. */
export type PlainRequest = ReadonlyMap<string, Plain>;

export const toBytes = (text: string): Bytes => [...Buffer.from(text, 'latin1')];
export const utf8 = (text: string): Bytes => [...Buffer.from(text, 'utf8')];

/** Returns the sign of the order. */
export function compareBytes(a: Bytes, b: Bytes): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}
