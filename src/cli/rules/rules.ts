/** `weir rule ls`, and how commands show rules. */
import type { Command } from 'commander';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { findList } from '../../manage/find.ts';
import { type Names, namesIn, originRuleJson } from '../../manage/rules/rule-json.ts';
import { type OriginRule, withOrigins } from '../../manage/rules/rule-search.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { RulePosition } from '../../ports/stored/rule-queries.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { ExpressionRule, Kind } from '../../rule.ts';
import { readInChunks } from '../../schedule/chunks.ts';
import { warningOf } from '../../signal/rate-limit.ts';
import { formatTarget } from '../../signal/target.ts';
import type { AddCommand } from '../command.ts';
import { type Context, cut, printable, readsIn, table, writeLine } from '../context.ts';
import { wholeNumber } from '../usage.ts';
import { type ConditionOptions, conditionOptions, matchingRules, readConditions } from './conditions.ts';

/** A stored rule as one line for people. */
export function ruleLine({ rule }: StoredRule): string {
  const what = 'target' in rule ? formatTarget(rule.target) : `${rule.type} ${rule.expression}`;
  const warning = 'expression' in rule ? warningOf(rule) : null;
  const shown = [rule.action, what, rule.ruleRef ?? '-', isoTime(rule.expiresAt) ?? 'no expiry', rule.name ?? ''];
  return printable([...shown, ...(warning === null ? [] : [`warning: ${warning}`])].join('  ').trimEnd());
}

/** Prints rules as they come: a list of any length needs no memory. */
type Print = (
  context: Context,
  pages: AsyncIterable<readonly OriginRule[]>,
  shown: { readonly names: Names; readonly kind: Kind },
) => Promise<void>;

const json = (rule: OriginRule) => JSON.stringify(originRuleJson(rule));

const ndjson: Print = async ({ stdout }, pages) => {
  for await (const page of pages) for (const rule of page) await writeLine(stdout, json(rule));
};

/** A JSON array, one rule a line. Where it has to be cut, its end is missing: no reader takes it for whole. */
const jsonArray: Print = async ({ stdout }, pages) => {
  let begin = '[';
  for await (const page of pages) {
    for (const rule of page) {
      await writeLine(stdout, `${begin}${json(rule)}`);
      begin = ',';
    }
  }
  await writeLine(stdout, begin === '[' ? '[]' : ']');
};

/** The columns for people: what may be long stands last. */
const COLUMNS = {
  target: ['ACTION', 'TARGET', 'LIST', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON'],
  expression: ['ACTION', 'TYPE', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON', 'EXPRESSION'],
} as const;
/** Characters of a column that is not the last. */
const WIDEST = 48;

/** Columns with a heading, aligned page by page. */
const text: Print = async ({ stdout }, pages, { names, kind }) => {
  const columns = kind === 'access_rule' ? COLUMNS.target : COLUMNS.expression;
  let heading = 0;
  for await (const page of pages) {
    const lines = table(columns, page, (rule) => cells(rule, names)).split('\n');
    for (const line of lines.slice(heading)) await writeLine(stdout, line);
    heading = 1;
  }
};

function cells({ stored: { rule, listId }, origin }: OriginRule, { lists, keys }: Names): (string | null)[] {
  const until = isoTime(rule.expiresAt);
  const key = origin?.keyId ? (keys.get(origin.keyId) ?? origin.keyId) : (origin?.actor ?? null);
  const from = [rule.ruleRef, rule.name, key, origin?.batchId ?? null];
  const row =
    'target' in rule
      ? [rule.action, formatTarget(rule.target), lists.get(listId ?? '') ?? listId, until, ...from, rule.reason]
      : [rule.action, rule.type, until, ...from, rule.reason, withWarning(rule)];
  return row.map((cell, i) => (cell === null ? null : cut(printable(cell), i === row.length - 1 ? Number.POSITIVE_INFINITY : WIDEST)));
}

/** The expression of a rule, and what agents would ignore of the rule. */
function withWarning(rule: ExpressionRule): string {
  const warning = warningOf(rule);
  return warning === null ? rule.expression : `${rule.expression}  (warning: ${warning})`;
}

/** Rules that are read and printed at a time. */
const PAGE = 1000;

/** Pages of rules with their origins. */
async function* originPages(
  store: StoreReads,
  workspace: string,
  rules: AsyncIterable<StoredRule>,
  progress: { read: number },
): AsyncGenerator<OriginRule[]> {
  for await (const page of readInChunks(rules, PAGE)) {
    progress.read += page.length;
    yield await withOrigins(store, workspace, page);
  }
}

/** At most `limit` rules; `onMore` is told the last of them when there are more. */
async function* limited(rules: AsyncIterable<StoredRule>, limit: number, onMore: (last: StoredRule) => void): AsyncGenerator<StoredRule> {
  let left = limit;
  let last: StoredRule | undefined;
  for await (const rule of rules) {
    if (left === 0) return onMore(last!);
    yield rule;
    last = rule;
    left -= 1;
  }
}

/** A position as `--after` takes it: `LIST/ID` of an access rule, the `rule_ref` of another. */
const positionText = ({ id, listId, rule }: StoredRule): string => (listId === null ? rule.ruleRef! : `${listId}/${id}`);

async function positionOf(store: StoreReads, workspace: string, kind: Kind, after: string): Promise<RulePosition> {
  if (kind !== 'access_rule') return { id: 0, listId: null, ruleRef: after };
  const [, listId, id] = /^([0-9a-f-]{36})\/(\d{1,15})$/i.exec(after) ?? [];
  if (listId === undefined) throw new WeirError('USAGE', `--after takes what an earlier page ended with, not "${after}"`);
  const { id: known } = await findList(store, workspace, listId.toLowerCase());
  return { id: Number(id), listId: known, ruleRef: null };
}

const ruleOptions = (c: Command): Command =>
  conditionOptions(c)
    .option('--limit <count>', 'at most so many', wholeNumber('--limit', 1, 1_000_000_000))
    .option('--after <position>', 'go on where an earlier page ended')
    .option('--ndjson', 'print JSON for programs, one object a line');

export function ruleCommands(add: AddCommand): void {
  add('rule ls', 'list the active rules of a workspace that meet every given condition', ruleOptions, {
    async run(context, _args, options) {
      const { kind, limit = Number.POSITIVE_INFINITY, after }: ListOptions = options;
      const { store, workspace } = await readsIn(context, options.workspace);
      const conditions = await readConditions(store, workspace, options);
      const from = after === undefined ? undefined : await positionOf(store, workspace, kind, after);
      const print = options.ndjson ? ndjson : options.json ? jsonArray : text;
      const progress = { read: 0 };
      let more = '';
      const rules = limited(matchingRules(store, workspace, conditions, from), limit, (last) => {
        more = `weir: there are more rules: --after ${positionText(last)}\n`;
      });
      try {
        await print(context, originPages(store, workspace, rules, progress), { names: await namesIn(store, workspace), kind });
        context.stderr.write(more);
      } catch (error) {
        if (progress.read === 0) throw error;
        context.exitCode = 1;
        context.stderr.write(`weir: the list is cut after ${progress.read} rules: ${(error as Error).message}\n`);
      }
    },
    show: () => '',
  });
}

interface ListOptions extends ConditionOptions {
  readonly limit?: number;
  readonly after?: string;
}
