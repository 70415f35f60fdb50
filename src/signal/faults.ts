/** Faults of entries and batches, and their texts for callers (spec 2.5, 7.2). */
import type { FieldFault } from './validate.ts';

export interface EntryFault extends FieldFault {
  /** Index of the entry. Faults are in the order of entries. */
  readonly entry: number;
  /** The expression's text is faulty; the schema accepts it. */
  readonly isExpression?: true;
}

/** Maximum rows of `details` (spec 7.2). */
export const MOST_DETAILS = 100;

/** A reason for refusing a batch (spec 7.2, `details`). */
export interface BatchFault extends FieldFault {
  readonly value: string | number | boolean | null;
  readonly index?: number;
}

export interface EntryError {
  readonly entry: number;
  readonly message: string;
}

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

export const errorTexts = (faults: readonly EntryFault[]): string[] =>
  entryErrors(faults).map(({ entry, message }) => `Entry ${entry}: ${message}`);

/** The first reason, as a sentence. */
export function refusalText([{ index, field, message }]: readonly [BatchFault, ...unknown[]]): string {
  const entry = index === undefined ? '' : `Entry ${index}: `;
  return `${entry}${message.startsWith(field) ? '' : `${field} `}${message}`;
}
