/** `weir rule export`: access rules in the forms that `weir send` takes. */
import type { Command } from 'commander';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { findList } from '../../manage/find.ts';
import { ACCESS_ACTIONS, type AccessRule } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { EXPORT_FIELDS } from '../../source/readers/entry.ts';
import type { AddCommand } from '../command.ts';
import { type Context, readsIn, writeLine } from '../context.ts';
import { inWorkspace, oneOf } from '../usage.ts';

type Fields = Readonly<Record<(typeof EXPORT_FIELDS)[number], unknown>>;

/** What a form writes before, for and behind the rules; `line` returns undefined for a rule that has no line of its own. */
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
type FormName = keyof typeof FORMS;
const FORM_NAMES = Object.keys(FORMS) as readonly FormName[];

const ruleExportOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--list <list>', 'only this list')
    .option('--format <format>', FORM_NAMES.join(', '), oneOf('--format', FORM_NAMES), 'text')
    .option('--action <action>', 'only block or only allow rules; text: block when absent', oneOf('--action', ACCESS_ACTIONS));

export function ruleExportCommand(add: AddCommand): void {
  add('rule export', 'write the active access rules in a form that weir send takes', ruleExportOptions, {
    async run(context, _args, { workspace: name, list, format, action }) {
      const { store, workspace } = await readsIn(context, name);
      const listId = list === undefined ? undefined : (await findList(store, workspace, list)).id;
      const only = action ?? (format === 'text' ? 'block' : undefined);
      await write(context, FORMS[format as FormName](), accessRules());

      async function* accessRules(): AsyncGenerator<AccessRule> {
        for await (const { rule } of store.rules(workspace, { kind: 'access_rule', listId, now: Date.now() })) {
          if (only === undefined || rule.action === only) yield rule as AccessRule;
        }
      }
    },
    show: () => '',
  });
}

/** Writes rules as they are read. What a failure cuts has no end where the form has one. */
async function write({ stdout }: Context, { head, end, line }: Form, rules: AsyncIterable<AccessRule>): Promise<void> {
  let number = 0;
  if (head !== undefined) await writeLine(stdout, head);
  try {
    for await (const rule of rules) {
      const text = line(fieldsOf(rule), number);
      if (text !== undefined) await writeLine(stdout, text);
      number += 1;
    }
  } catch (error) {
    throw new WeirError('STORE_UNAVAILABLE', `the rules are cut after ${number}: ${(error as Error).message}`);
  }
  if (end !== undefined) await writeLine(stdout, end);
}

const fieldsOf = ({ target, action, expiresAt, reason, labels, config, ruleRef, name }: AccessRule): Fields => ({
  value: formatTarget(target),
  action,
  expires_at: isoTime(expiresAt),
  reason,
  labels,
  config,
  rule_ref: ruleRef,
  name,
});

/** The fields that say something. */
const jsonOf = (fields: Fields) => JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));

function csvCell(value: unknown): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^\s|[",\r\n]|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
