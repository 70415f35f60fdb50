/** 32-bit words per address. */
export const addressWords = (family: 4 | 6): 1 | 4 => (family === 4 ? 1 : 4);

/** Of one family, in file order, as columns. */
export interface Rows {
  readonly family: 4 | 6;
  count: number;
  /** `2 * addressWords(family)` words a row. */
  words: Uint32Array<ArrayBuffer>;
  keys: Uint32Array<ArrayBuffer>;
  /** Line in the file; 0 for MMDB files. */
  lines: Uint32Array<ArrayBuffer>;
  /** Index of the file in reading order. */
  files: Uint8Array<ArrayBuffer>;
}

const FIRST_CAPACITY = 4096;

export const emptyRows = (family: 4 | 6): Rows => ({
  family,
  count: 0,
  words: new Uint32Array(FIRST_CAPACITY * 2 * addressWords(family)),
  keys: new Uint32Array(FIRST_CAPACITY),
  lines: new Uint32Array(FIRST_CAPACITY),
  files: new Uint8Array(FIRST_CAPACITY),
});

/** Four words each, an IPv4 address in the last one. */
export function addRow(rows: Rows, first: Uint32Array, last: Uint32Array, key: number, file: number, line: number): void {
  const { family, count } = rows;
  if (count === rows.keys.length) {
    rows.words = grown(rows.words);
    rows.keys = grown(rows.keys);
    rows.lines = grown(rows.lines);
    rows.files = new Uint8Array(rows.files.buffer.transfer(rows.files.length * 2));
  }
  const width = addressWords(family);
  const at = count * 2 * width;
  for (let word = 0; word < width; word++) {
    rows.words[at + word] = first[4 - width + word];
    rows.words[at + width + word] = last[4 - width + word];
  }
  rows.keys[count] = key;
  rows.lines[count] = line;
  rows.files[count] = file;
  rows.count = count + 1;
}

const grown = (array: Uint32Array<ArrayBuffer>) => new Uint32Array(array.buffer.transfer(array.byteLength * 2));

/** Rows of both families, and the number of those without a usable key. */
export interface RowSink {
  readonly v4: Rows;
  readonly v6: Rows;
  skipped: number;
  /** First name of each key. */
  readonly names: Map<number, string>;
  /** Index of the current file. */
  file: number;
}
