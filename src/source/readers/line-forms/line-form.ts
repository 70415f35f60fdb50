/** Text forms made of program statements, such as `deny 198.51.100.7;` (SPEC D41.6). */

/** Each field becomes a cell of its row. */
export interface LineEntry {
  readonly value: string;
  /** Such as DROP; must match the import's action. */
  readonly verdict?: string | undefined;
  readonly expires_in?: string | undefined;
  readonly reason?: string | undefined;
}

export interface Passed {
  readonly passed: string;
}

/** Entries, skip reasons and faults of a line; empty: irrelevant. */
export type Said = readonly (LineEntry | Passed | string)[];
export const NOTHING: readonly never[] = [];

export interface LineForm {
  readonly name: string;
  readonly first: RegExp;
  open(file: string): (line: string) => Said;
}

/** Splits at blanks and marks; quoted text is one word. */
export const wordsOf = (line: string): string[] =>
  (line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'));

/** Several could mix blocked and allowed addresses. */
export function oneSet(): (name: string) => string | undefined {
  let one: string | undefined;
  return (name) => {
    one ??= name;
    return one === name ? undefined : `this is of the set "${name}", and the lines before it are of "${one}": save one set`;
  };
}

/** Ignored, unless it has an address with an unclear purpose. */
export const unknownLine = (line: string): Said => (ADDRESS.test(line) ? ['this line has an address with an unclear purpose'] : NOTHING);
const ADDRESS = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}|::|(?:[\da-f]{1,4}:){7}/i;
