/** What is wrong with entries and batches, as data, and the sentences that callers read (spec 2.5, 7.2). */
import type { FieldFault } from './validate.ts';

/** One thing wrong with an entry, for which the others of its batch are taken all the same. */
export interface EntryFault extends FieldFault {
  /** The entry, from 0. Faults come in the order of their entries. */
  readonly entry: number;
  /** Set where the schema has nothing to say: the text of the expression is at fault. */
  readonly isExpression?: true;
}

/** Rows of `details` that an answer has at most (spec 7.2). */
export const MOST_DETAILS = 100;

/** One reason why a whole batch is refused (spec 7.2, `details`). */
export interface BatchFault extends FieldFault {
  /** What the caller sent there. */
  readonly value: string | number | boolean | null;
  /** The entry, from 0; absent when the fault is the batch's own. */
  readonly index?: number;
}

/** An entry that was not taken, and all that is wrong with it in a sentence. */
export interface EntryError {
  readonly entry: number;
  readonly message: string;
}

/** The faults of a batch as a sentence an entry. */
export function entryErrors(faults: readonly EntryFault[]): EntryError[] {
  const errors: EntryError[] = [];
  for (let at = 0; at < faults.length; ) {
    const { entry } = faults[at]!;
    let text = '';
    let isOfExpression = true;
    for (; faults[at]?.entry === entry; at += 1) {
      const { field, message, isExpression = false } = faults[at]!;
      text += `${text === '' ? '' : '; '}${field}: ${message}`;
      isOfExpression &&= isExpression;
    }
    errors.push({ entry, message: `${isOfExpression ? 'Expression' : 'Schema'} validation failed: ${text}` });
  }
  return errors;
}

/** The same as the `errors` of an answer have it. */
export const errorTexts = (faults: readonly EntryFault[]): string[] =>
  entryErrors(faults).map(({ entry, message }) => `Entry ${entry}: ${message}`);

/** The first reason of a refusal, as a sentence. */
export function refusalText([{ index, field, message }]: readonly [BatchFault, ...unknown[]]): string {
  const entry = index === undefined ? '' : `Entry ${index}: `;
  return `${entry}${message.startsWith(field) ? '' : `${field} `}${message}`;
}
