/** Words of one address: IPv4 one, IPv6 four. */
export const addressWords = (family: 4 | 6): 1 | 4 => (family === 4 ? 1 : 4);

/** The rows of one family, in file order, as columns: the values of row `i` are at index `i` of each. */
export interface Rows {
  readonly family: 4 | 6;
  count: number;
  /** The first and last address of each row: `2 * addressWords(family)` words. */
  words: Uint32Array<ArrayBuffer>;
  keys: Uint32Array<ArrayBuffer>;
  /** The line of each row in its file; 0 for MMDB files. */
  lines: Uint32Array<ArrayBuffer>;
  /** The file of each row, as an index in reading order. */
  files: Uint8Array<ArrayBuffer>;
}

const FIRST_CAPACITY = 4096;

/** An empty, growable collection of rows. */
export const emptyRows = (family: 4 | 6): Rows => ({
  family,
  count: 0,
  words: new Uint32Array(FIRST_CAPACITY * 2 * addressWords(family)),
  keys: new Uint32Array(FIRST_CAPACITY),
  lines: new Uint32Array(FIRST_CAPACITY),
  files: new Uint8Array(FIRST_CAPACITY),
});

/** Appends a row. `first` and `last` are its addresses as four words, an IPv4 address in the last of them. */
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

/** Receives what a reader finds: rows of both families, and the number of rows without a usable key. */
export interface RowSink {
  readonly v4: Rows;
  readonly v6: Rows;
  skipped: number;
  /** What keys are called, the first name of each. */
  readonly names: Map<number, string>;
  /** The index of the file being read. */
  file: number;
}
