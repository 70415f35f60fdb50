import { WeirError } from '../../errors.ts';
import type { Changed, Deleted } from '../../manage/operations/rules/rule-changing.ts';
import { MOST_CHANGED } from '../../manage/rules/rule-change.ts';
import { plural } from '../../text/count.ts';
import { without } from '../account/settings.ts';
import type { Fields } from '../client/client.ts';
import { namesOf } from '../client/names.ts';
import { confirm } from '../confirm.ts';
import { cut, printable, table, writeLine } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';
import { wholeNumber } from '../usage.ts';
import { exportRules, FORM_NAMES } from './rule-export.ts';
import { CONDITION_OPTIONS, changedJson, everyRequest, type RuleRow, requireConditions, ruleLine, sumOf, waiting } from './selection.ts';

const CHANGE_FLAGS = {
  '--set-expires <when>': 'when they expire: a duration such as 7d from now, an instant, or never',
  '--set-reason <text>': 'their reason; empty: none',
  '--set-list <list>': 'the list where they go, by its id or name',
  '--yes': 'do it without asking',
};

export const RULE_ROWS: readonly AnyRow[] = [
  row<undefined>({
    words: 'rule ls',
    operation: 'listRules',
    summary: 'list the active rules of a workspace that meet every given condition',
    options: { ...CONDITION_OPTIONS, after: { help: 'continue where an earlier page ended' } },
    flags: { '--limit <number>': 'how many at most', '--ndjson': 'print JSON for programs, one object a line' },
    run: listRules,
    show: () => '',
  }),
  row<undefined>({
    words: 'rule export',
    operation: 'listRules',
    summary: 'write the active access rules in a form that weir send reads',
    options: { ...CONDITION_OPTIONS, action: { help: 'only block or only allow rules; text: block when absent' } },
    omit: ['kind', 'sort', 'descending'],
    flags: { '--format <format>': `${FORM_NAMES.join(', ')} (default: text)` },
    run: exportRules,
    show: () => '',
  }),
  row<ReturnType<typeof sums>>({
    words: 'rule delete',
    operation: 'deleteRules',
    summary: 'delete the active rules that meet every given condition',
    options: CONDITION_OPTIONS,
    omit: ['ids'],
    flags: { '--yes': 'do it without asking' },
    run: deleteRules,
    show: (done) =>
      done.deleted === 0
        ? `no rule meets these conditions${stay(done)}`
        : `${plural(done.deleted, 'rule')} deleted by ${done.batch_id}${waiting(done)}${stay(done)}`,
  }),
  row<ReturnType<typeof changeJson>>({
    words: 'rule change',
    operation: 'changeRules',
    summary: 'change the expiry, reason or list of the active rules that meet every given condition',
    options: CONDITION_OPTIONS,
    omit: ['ids', 'set'],
    flags: CHANGE_FLAGS,
    given: ({ options }) => ({ set: setOf(options) }),
    run: changeRules,
    show: (done) =>
      done.changed === 0
        ? `no rule changes${others(done)}`
        : `${plural(done.changed, 'rule')} changed by ${done.batch_id}${waiting(done)}${others(done)}`,
  }),
];

/** Characters of a column; the last one is unlimited. */
const WIDEST = 48;
const HEADINGS = {
  access: ['ACTION', 'TARGET', 'LIST', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON'],
  expression: ['ACTION', 'TYPE', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON', 'EXPRESSION'],
} as const;

/** Prints page by page: memory is bounded. After a failure the end of the JSON array is missing. */
async function listRules({ client, context, given, options }: Call): Promise<undefined> {
  const { stdout, stderr } = context;
  const limit = options.limit === undefined ? undefined : wholeNumber('--limit', 1, 1_000_000_000)(options.limit);
  const isText = !options.json && !options.ndjson;
  const names: ReadonlyMap<string, string> = isText ? await namesOf(client) : new Map();
  const headings = (given.kind ?? 'access_rule') === 'access_rule' ? HEADINGS.access : HEADINGS.expression;
  let [printed, last]: [number, string | null] = [0, null];
  try {
    for await (const { items, next } of client.pages<RuleRow>('listRules', given, limit)) {
      const json = () => items.map((rule) => JSON.stringify(without(rule, 'key_name')));
      const lines = () =>
        table(headings, items, (rule) => cellsOf(rule, names))
          .split('\n')
          .slice(printed === 0 ? 0 : 1);
      const array = () => json().map((text, i) => `${printed + i === 0 ? '[' : ','}${text}`);
      if (items.length > 0) for (const line of isText ? lines() : options.ndjson ? json() : array()) await writeLine(stdout, line);
      printed += items.length;
      last = next;
    }
    if (options.json && !options.ndjson) await writeLine(stdout, printed === 0 ? '[]' : ']');
    if (last !== null && (await client.items('listRules', { ...given, after: last }, 1)).length > 0)
      stderr.write(`weir: there are more rules: --after ${last}\n`);
  } catch (error) {
    if (printed === 0) throw error;
    context.exitCode = 1;
    stderr.write(`weir: the list is cut after ${printed} rules: ${(error as Error).message}\n`);
  }
}

function cellsOf(rule: RuleRow, names: ReadonlyMap<string, string>): (string | null)[] {
  const { action, target, list_id: list = '', type = null, expires_at: until, reason, expression, warning, repeated } = rule;
  const from = [rule.rule_ref, rule.name, rule.key_name ?? rule.key_id ?? rule.actor ?? null, rule.batch_id];
  const cells =
    target === undefined
      ? [action, type, until, ...from, reason, `${expression}${warning === undefined ? '' : `  (warning: ${warning})`}`]
      : [
          action,
          target,
          names.get(list) ?? list,
          until,
          ...from,
          repeated === undefined ? reason : `${reason ?? ''}  (${repeated})`.trim(),
        ];
  return cells.map((cell, i) => (cell === null || i === cells.length - 1 ? cell : cut(printable(cell), WIDEST)));
}

type Sampled<A> = Omit<A, 'sample'> & { readonly sample: readonly RuleRow[] };
type DeleteAnswer = Sampled<Deleted>;
type ChangeAnswer = Sampled<Changed>;

/** Rules in a question. */
const SAMPLE = 10;

const sums = (answers: readonly DeleteAnswer[]) => ({
  deleted: sumOf(answers, 'deleted'),
  left_out: sumOf(answers, 'left_out'),
  ...changedJson(answers),
});

async function deleteRules({ client, context, given, options }: Call): Promise<ReturnType<typeof sums>> {
  requireConditions(given);
  const previews = await everyRequest<DeleteAnswer>(client, 'deleteRules', { ...given, preview: true });
  const preview = sums(previews);
  if (preview.deleted === 0) return preview;
  const sample = previews.flatMap((each) => each.sample).slice(0, SAMPLE);
  const question = [`deleting ${plural(preview.deleted, 'rule')}${stay(preview)}`, ...sample.map((rule) => `  ${ruleLine(rule)}`)];
  await confirm(context, question.join('\n'), options.yes);
  return sums(await everyRequest<DeleteAnswer>(client, 'deleteRules', given));
}

/** Rules managed by sources. */
const stay = ({ left_out: leftOut }: Pick<Deleted, 'left_out'>) =>
  leftOut === 0 ? '' : `; ${leftOut} more stay, because sources manage them`;

function setOf({ setExpires: expires, setReason: reason, setList: list }: Fields): Fields {
  if (expires === undefined && reason === undefined && list === undefined)
    throw new WeirError('USAGE', 'say what changes: give --set-expires, --set-reason or --set-list');
  return Object.fromEntries(
    Object.entries({ expires, reason: reason === '' ? null : reason, list }).filter(([, value]) => value !== undefined),
  );
}

const changeJson = (answer: ChangeAnswer) => {
  const { changed, moved, unchanged, left_out, refused } = answer;
  return { changed, moved, unchanged, left_out, refused, ...changedJson([answer]) };
};

async function changeRules({ client, context, given, options }: Call): Promise<ReturnType<typeof changeJson>> {
  requireConditions(given);
  const preview = await client.call<ChangeAnswer>('changeRules', { ...given, preview: true });
  if (preview.next !== null)
    throw new WeirError('REFUSED', `more than ${MOST_CHANGED} rules meet these conditions, the most that change as one batch: narrow them`);
  if (preview.changed === 0) return changeJson(preview);
  const question = [
    `changing ${plural(preview.changed, 'rule')}${others(preview)}`,
    ...preview.sample.map((rule) => `  ${ruleLine(rule)}`),
    ...preview.refusals.map(({ rule, why }) => printable(`  stays as it is: ${rule}: ${why}`)),
  ];
  await confirm(context, question.join('\n'), options.yes);
  return changeJson(await client.call<ChangeAnswer>('changeRules', { ...given, confirmed: true }));
}

const others = ({ unchanged, left_out: leftOut, refused }: Pick<Changed, 'unchanged' | 'left_out' | 'refused'>) =>
  [
    unchanged > 0 && `${unchanged} have that already`,
    leftOut > 0 && `${leftOut} stay, because sources manage them`,
    refused > 0 && `${refused} cannot change`,
  ]
    .map((text) => (text === false ? '' : `; ${text}`))
    .join('');
