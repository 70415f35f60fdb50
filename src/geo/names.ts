/** Such as operators of ASNs, in one block of bytes. */

/** Of a name, and bytes of all names; longer ones are cut, further ones dropped. */
const LONGEST = 100;
const MOST_BYTES = 16 * 1024 * 1024;

/** Shared between threads: ascending keys, the start of each name and the end of the last, UTF-8 of all names. */
export interface GeoNames {
  readonly bytes: SharedArrayBuffer;
  readonly count: number;
}

/** A key has many rows: its first name counts. */
export function noteName(names: Map<number, string>, key: number, text: string): void {
  const name = Array.from(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim())
    .slice(0, LONGEST)
    .join('');
  if (name !== '') names.set(key, name);
}

export function packNames(names: ReadonlyMap<number, string>): GeoNames | undefined {
  const texts: Buffer[] = [];
  const keys: number[] = [];
  let length = 0;
  for (const key of [...names.keys()].sort((a, b) => a - b)) {
    const text = Buffer.from(names.get(key)!);
    if (length + text.length > MOST_BYTES) break;
    length += text.length;
    keys.push(key);
    texts.push(text);
  }
  if (keys.length === 0) return undefined;
  const words = 2 * keys.length + 1;
  const bytes = new SharedArrayBuffer(4 * words + length);
  const head = new Uint32Array(bytes, 0, words);
  head.set(keys);
  texts.forEach((text, i) => {
    head[keys.length + i + 1] = head[keys.length + i]! + text.length;
  });
  new Uint8Array(bytes, 4 * words).set(Buffer.concat(texts));
  return { bytes, count: keys.length };
}

/** null: the data has no name. */
export function nameOf(names: GeoNames | undefined, key: number): string | null {
  if (names === undefined) return null;
  const { bytes, count } = names;
  const head = new Uint32Array(bytes, 0, 2 * count + 1);
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >>> 1;
    if (head[middle]! < key) low = middle + 1;
    else high = middle;
  }
  if (low === count || head[low] !== key) return null;
  const text = 4 * head.length;
  return Buffer.from(bytes, text, bytes.byteLength - text).toString('utf8', head[count + low], head[count + low + 1]);
}
