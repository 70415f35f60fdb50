/** Rules with all that is known of them, page by page, the same in both dialects. */
import { lastHost, networksAround } from '../network/nesting.ts';
import type { Network } from '../network/network.ts';
import type { RuleFilter, RuleMatch, RulePosition, StoredRule, WholeRules } from '../ports/rule-store.ts';
import { type ExpressionKind, isExpressionKind, RULE_KINDS } from '../rule.ts';
import { formatTarget } from '../signal/target.ts';
import { packV4, packV6 } from './columns.ts';
import { type RuleSource, ruleSource } from './lists.ts';
import { type Row, ruleOf } from './rows.ts';
import { all, type Value, type Work } from './work.ts';

/** Rules fetched at a time. */
const PAGE = 1000;
const ACTIVE = '(expires_at IS NULL OR expires_at > $3)';

/** How a dialect is told which index to use; empty where it finds that out by itself. */
export type IndexedBy = (index: string) => string;

/** Rules that stand behind one another: of a list, or of a kind in a workspace. */
interface Stretch {
  /** What the first page comes behind. */
  readonly first: Value;
  /** The column that `page` goes on behind. */
  readonly key: string;
  page(after: Value): Work<Row[]>;
  rule(row: Row): StoredRule;
}

/** `rules` of the port; `read` runs statements. */
export async function* ruleRows(
  read: <T>(work: Work<T>) => Promise<T>,
  indexedBy: IndexedBy,
  workspaceId: string,
  filter: RuleFilter,
): AsyncGenerator<StoredRule> {
  const source = await read(ruleSource('0', workspaceId, isExpressionKind(filter.kind) ? null : (filter.listId ?? null)));
  if (source === undefined) return;
  for (const { first, key, page, rule } of stretchesOf(source, filter, indexedBy)) {
    for (let after = first; ; ) {
      const rows = await read(page(after));
      for (const row of rows) yield rule(row);
      if (rows.length < PAGE) break;
      after = rows[PAGE - 1][key] as Value;
    }
  }
}

/** Hands over the rules of a source, of these kinds, that are active at `now` (ms). */
export function* takeRules(source: RuleSource, { kinds, take }: WholeRules, now: number): Work<void> {
  for (const { first, key, page, rule } of kinds.flatMap((kind) => stretchesOf(source, { kind, now }, () => ''))) {
    for (let after = first; ; ) {
      const rows = yield* page(after);
      for (const row of rows) take(rule(row));
      if (rows.length < PAGE) break;
      after = rows[PAGE - 1][key] as Value;
    }
  }
}

function stretchesOf({ workspacePk, lists }: RuleSource, { kind, now, match, after }: RuleFilter, indexedBy: IndexedBy): Stretch[] {
  if (isExpressionKind(kind)) {
    const page = (last: Value) => expressionPage(kind, workspacePk, last, now);
    return [{ first: after?.ruleRef ?? '', key: 'rule_ref', page, rule: (row) => ruleOf(kind, row) }];
  }
  const search = searchOf(match);
  return listsFrom(lists, after).map(({ pk, id }) => ({
    first: after?.listId === id ? after.id : -1,
    key: 'id',
    page: (last) => accessPage(search, pk, last, now, indexedBy),
    rule: (row) => ruleOf(kind, { ...row, list_id: id }),
  }));
}

/** The lists that come at `after` or behind it; none when its list is gone. */
function listsFrom<L extends { readonly id: string }>(lists: readonly L[], after: RulePosition | undefined): readonly L[] {
  if (after === undefined) return lists;
  const at = lists.findIndex(({ id }) => id === after.listId);
  return at < 0 ? [] : lists.slice(at);
}

function* expressionPage(kind: ExpressionKind, workspacePk: number, after: Value, now: number): Work<Row[]> {
  const { table } = RULE_KINDS[kind];
  return yield* all(
    `SELECT * FROM ${table} WHERE workspace_pk = $1 AND rule_ref > $2 AND ${ACTIVE} ORDER BY rule_ref LIMIT ${PAGE}`,
    workspacePk,
    after,
    now,
  );
}

/** A condition on access rules, with its values from `$4` on. */
interface Search {
  readonly condition: string;
  readonly values: readonly Value[];
  /** Whether it names targets, which have indexes. */
  readonly indexed: boolean;
}

/** The indexes that have the rules of a list by action and target: those without a rule_ref, and those with one. */
const BY_TARGET = { access_rules_value: 'IS NULL', access_rules_ref_value: 'IS NOT NULL' };

function* accessPage(search: Search, listPk: number, after: Value, now: number, indexedBy: IndexedBy): Work<Row[]> {
  const { condition, values, indexed } = search;
  const byTarget = Object.entries(BY_TARGET).map(
    ([index, ref]) => `SELECT * FROM access_rules ${indexedBy(index)}
    WHERE list_pk = $1 AND action IN (0, 1) AND ${condition} AND rule_ref ${ref} AND +id > $2 AND ${ACTIVE}`,
  );
  const from = indexed
    ? `(${byTarget.join(' UNION ALL ')}) found`
    : `access_rules WHERE list_pk = $1 AND id > $2 AND ${ACTIVE}${condition === '' ? '' : ` AND ${condition}`}`;
  return yield* all(`SELECT * FROM ${from} ORDER BY id LIMIT ${PAGE}`, listPk, Number(after), now, ...values);
}

function searchOf(match: RuleMatch | undefined): Search {
  if (match === undefined) return { condition: '', values: [], indexed: false };
  switch (match.how) {
    case 'exact':
      return targetSearch([formatTarget(match.target)]);
    case 'covering':
      return targetSearch(networksAround(match.network).map((network) => formatTarget({ kind: 'ip', network })));
    case 'geo':
      // Countries and ASNs begin with a capital, addresses with a digit, a small letter or a colon.
      return { condition: "target >= 'A' AND target < '['", values: [], indexed: true };
    case 'covered':
      return insideSearch(match.network);
  }
}

const targetSearch = (targets: readonly string[]): Search => ({
  condition: `target IN (${targets.map((_, i) => `$${i + 4}`)})`,
  values: targets,
  indexed: true,
});

/** The networks inside one lie between it and its last address, as they are packed. */
function insideSearch(network: Network): Search {
  const [column, pack] = network.family === 4 ? (['v4', packV4] as const) : (['v6', packV6] as const);
  const ends = [network, lastHost(network)].map((each) => pack({ kind: 'ip', network: each }));
  return { condition: `${column} BETWEEN $4 AND $5`, values: ends, indexed: false };
}
