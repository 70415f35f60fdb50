/** Every type exists once, so equal types are the same object. */
export interface Type {
  readonly kind: 'Bool' | 'Int' | 'Ip' | 'Bytes' | 'Array' | 'Map';
  /** Element type of an array or value type of a map; null for primitive types. */
  readonly of: Type | null;
  /** Spelling in schemes and messages, such as `Map(Array(Bytes))`. */
  readonly text: string;
}

export const BOOL: Type = { kind: 'Bool', of: null, text: 'Bool' };
export const INT: Type = { kind: 'Int', of: null, text: 'Int' };
export const IP: Type = { kind: 'Ip', of: null, text: 'Ip' };
export const BYTES: Type = { kind: 'Bytes', of: null, text: 'Bytes' };

const PRIMITIVES: ReadonlyMap<string, Type> = new Map([BOOL, INT, IP, BYTES].map((type) => [type.text, type]));

/** Keeps parsing from exhausting the stack. */
const MAX_TYPE_DEPTH = 8;

const compounds = new Map<string, Type>();

function compound(kind: 'Array' | 'Map', of: Type): Type {
  const text = `${kind}(${of.text})`;
  let type = compounds.get(text);
  if (type === undefined) {
    type = { kind, of, text };
    compounds.set(text, type);
  }
  return type;
}

export function arrayOf(of: Type): Type {
  return of === BOOL ? BOOL_ARRAY : compound('Array', of);
}

/** The type of a comparison under `[*]`. */
export const BOOL_ARRAY: Type = compound('Array', BOOL);

/** null: no type. */
export function parseType(text: string, depth = 0): Type | null {
  const primitive = PRIMITIVES.get(text);
  if (primitive !== undefined) return primitive;
  const kind = text.startsWith('Array(') ? 'Array' : text.startsWith('Map(') ? 'Map' : null;
  if (kind === null || !text.endsWith(')') || depth === MAX_TYPE_DEPTH) return null;
  const of = parseType(text.slice(kind.length + 1, -1), depth + 1);
  return of === null ? null : compound(kind, of);
}
