import { hasCode, WeirError } from '../../errors.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { EXPORT_FIELDS } from '../../source/readers/entry.ts';
import type { Fields } from '../client/client.ts';
import { writeLine } from '../context.ts';
import type { Call } from '../rows/row.ts';
import { oneOf } from '../usage.ts';
import type { RuleRow } from './selection.ts';

/** `line` returns undefined for a duplicate. */
interface Form {
  readonly head?: string;
  readonly end?: string;
  line(fields: Fields, number: number): string | undefined;
}

const FORMS = {
  text: () => {
    const seen = new Set<unknown>();
    return {
      line({ value }) {
        if (seen.has(value)) return undefined;
        seen.add(value);
        return String(value);
      },
    };
  },
  csv: () => ({ head: EXPORT_FIELDS.join(','), line: (fields) => EXPORT_FIELDS.map((name) => csvCell(fields[name])).join(',') }),
  json: () => ({ head: '[', end: ']', line: (fields, number) => `${number === 0 ? ' ' : ','}${jsonOf(fields)}` }),
  ndjson: () => ({ line: (fields) => jsonOf(fields) }),
} as const satisfies Record<string, () => Form>;
export const FORM_NAMES = Object.keys(FORMS) as readonly (keyof typeof FORMS)[];

/** Writes while it reads. After a failure the end of the form is missing. */
export async function exportRules({ client, context: { stdout }, given, options }: Call): Promise<undefined> {
  const format = oneOf('--format', FORM_NAMES)(options.format ?? 'text');
  if (given.action !== undefined) oneOf('--action', ACCESS_ACTIONS)(String(given.action));
  const action = given.action ?? (format === 'text' ? 'block' : undefined);
  const { head, end, line }: Form = FORMS[format]();
  let number = 0;
  if (head !== undefined) await writeLine(stdout, head);
  try {
    for await (const { items } of client.pages<RuleRow>('listRules', { ...given, kind: 'access_rule', action }))
      for (const rule of items) {
        const text = line(fieldsOf(rule), number);
        if (text !== undefined) await writeLine(stdout, text);
        number += 1;
      }
  } catch (error) {
    if (number === 0 && hasCode(error, 'NOT_FOUND')) throw error;
    throw new WeirError('STORE_UNAVAILABLE', `the rules are cut after ${number}: ${(error as Error).message}`);
  }
  if (end !== undefined) await writeLine(stdout, end);
}

const fieldsOf = (rule: RuleRow): Fields =>
  Object.fromEntries(EXPORT_FIELDS.map((name) => [name, name === 'value' ? rule.target : rule[name]]));

const jsonOf = (fields: Fields) => JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));

function csvCell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^\s|[",\r\n]|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
