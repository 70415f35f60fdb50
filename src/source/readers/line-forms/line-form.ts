/** Forms of text whose lines are statements of a program, such as `deny 198.51.100.7;` (SPEC D41.6). */

/** What a line asks for; every field is a cell of the row that it makes. */
export interface LineEntry {
  readonly value: string;
  /** The word of the program, such as DROP, which has to be that of the import. */
  readonly verdict?: string | undefined;
  /** Seconds. */
  readonly expires_in?: string | undefined;
  readonly reason?: string | undefined;
}

/** Why a line asks for nothing. */
export interface Passed {
  readonly passed: string;
}

/** What a line says, one by one: an entry, why it asks for nothing, or what is wrong with it; nothing where it is of no concern. */
export type Said = readonly (LineEntry | Passed | string)[];
export const NOTHING: readonly never[] = [];

/** A form; a new one is a row of the table. */
export interface LineForm {
  readonly name: string;
  /** The first line of such a file that is no comment. */
  readonly first: RegExp;
  /** Begins to read a file with a name: a reader of its lines, which knows what stood before. */
  open(file: string): (line: string) => Said;
}

/** What stands between words and marks, for lines that are read by words; text in quotes is one. */
export const wordsOf = (line: string): string[] =>
  (line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'));

/** The one set that a file has: a file of several would mix what is blocked with what is not. */
export function oneSet(): (name: string) => string | undefined {
  let one: string | undefined;
  return (name) => {
    one ??= name;
    return one === name ? undefined : `this is of the set "${name}", and the lines before it are of "${one}": save one set`;
  };
}

/** What a line says that the form does not know: nothing, unless it has an address, of which nobody can tell what is done with it. */
export const unknownLine = (line: string): Said =>
  ADDRESS.test(line) ? ['this line has an address, and what it does with it cannot be told'] : NOTHING;
const ADDRESS = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}|::|(?:[\da-f]{1,4}:){7}/i;
