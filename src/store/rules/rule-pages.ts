import type { Network } from '@weir/network/network.ts';
import { lastHost, networksAround } from '@weir/network/sets/nesting.ts';
import type { StoredRulesSink } from '../../ports/snapshot.ts';
import type { RuleMatch, StepPlace } from '../../ports/stored/rule-queries.ts';
import type { RuleFilter } from '../../ports/stored/rule-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { type ExpressionKind, isExpressionKind, RULE_KINDS } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { type RuleSource, ruleSource } from '../accounts/lists.ts';
import { packV4, packV6 } from '../columns.ts';
import { type Row, ruleOf } from '../rows.ts';
import { all, one, type Value, type Work } from '../work.ts';

export const PAGE = 1000;
const ACTIVE = '(expires_at IS NULL OR expires_at > $3)';

/** Index hint of a dialect; may be empty. */
export type IndexedBy = (index: string) => string;

export type Key = readonly Value[];

/** undefined: no more. */
export interface Page {
  readonly rows: readonly Row[];
  readonly next: Key | undefined;
}

interface Stretch {
  readonly first: Key;
  page(after: Key, limit: number): Work<Page>;
  rule(row: Row): StoredRule;
}

export interface NamedStretch extends Stretch {
  readonly key: readonly string[];
  place(after: Key): StepPlace;
}

export async function* ruleRows(
  read: <T>(work: Work<T>) => Promise<T>,
  indexedBy: IndexedBy,
  workspaceId: string,
  filter: RuleFilter,
): AsyncGenerator<StoredRule> {
  const source = await read(sourceOf(workspaceId, filter));
  if (source === undefined) return;
  for (const { first, page, rule } of stretchesOf(source, filter, indexedBy)) {
    for (let after: Key | undefined = first; after !== undefined; ) {
      const { rows, next }: Page = await read(page(after, PAGE));
      for (const row of rows) yield rule(row);
      after = next;
    }
  }
}

export function* takeRules(source: RuleSource, { kinds, take }: StoredRulesSink, now: number): Work<void> {
  for (const { first, page, rule } of kinds.flatMap((kind) => stretchesOf(source, { kind, now }, () => ''))) {
    for (let after: Key | undefined = first; after !== undefined; ) {
      const { rows, next }: Page = yield* page(after, PAGE);
      for (const row of rows) take(rule(row));
      after = next;
    }
  }
}

export const sourceOf = (workspaceId: string, { kind, listId }: Pick<RuleFilter, 'kind' | 'listId'>) =>
  ruleSource('0', workspaceId, isExpressionKind(kind) ? null : (listId ?? null));

function stretchesOf(source: RuleSource, filter: RuleFilter, indexedBy: IndexedBy): Stretch[] {
  const { kind, after, now } = filter;
  if (!isExpressionKind(kind)) {
    const lists = after?.listId ? listsFrom(source.lists, after.listId) : source.lists;
    return listStretches(lists, filter, after && lists[0] && { list: lists[0].pk, id: after.id }, indexedBy);
  }
  const { table } = RULE_KINDS[kind];
  return [
    {
      first: [after?.ruleRef ?? ''],
      page: (last, limit) =>
        completePage(
          BY_REF,
          `SELECT * FROM ${table} WHERE workspace_pk = $1 AND rule_ref > $2 AND ${ACTIVE} ORDER BY rule_ref LIMIT ${limit}`,
          [source.workspacePk, ...last, now],
          limit,
        ),
      rule: (row) => ruleOf(kind, row),
    },
  ];
}

/** Rules with `order`, then those without. */
export function enforcementStretches(kind: ExpressionKind, workspacePk: number, now: number): [NamedStretch, NamedStretch] {
  const { table } = RULE_KINDS[kind];
  const rule = (row: Row) => ruleOf(kind, row);
  const from = `SELECT * FROM ${table} WHERE workspace_pk = $1`;
  return [
    {
      first: [Number.MIN_SAFE_INTEGER - 1, ''],
      key: BY_ORDER,
      page: (after, limit) =>
        completePage(
          BY_ORDER,
          `${from} AND ("order", rule_ref) > ($2, $4) AND ${ACTIVE} ORDER BY "order", rule_ref LIMIT ${limit}`,
          [workspacePk, after[0], now, after[1]],
          limit,
        ),
      rule,
      place: ([order, ruleRef]) => ({ order: Number(order), ruleRef: String(ruleRef) }),
    },
    {
      first: [''],
      key: BY_REF,
      page: (after, limit) =>
        completePage(
          BY_REF,
          `${from} AND "order" IS NULL AND rule_ref > $2 AND ${ACTIVE} ORDER BY rule_ref LIMIT ${limit}`,
          [workspacePk, ...after, now],
          limit,
        ),
      rule,
      place: ([ruleRef]) => ({ order: null, ruleRef: String(ruleRef) }),
    },
  ];
}

/** `list`: pk. */
export interface ListPlace {
  readonly list: number;
  readonly id: number;
}

export type ListKey = Pick<RuleSource['lists'][number], 'pk' | 'id'>;

export function listStretches(
  lists: readonly ListKey[],
  { now, match }: Pick<RuleFilter, 'now' | 'match'>,
  after: ListPlace | undefined,
  indexedBy: IndexedBy,
): NamedStretch[] {
  const search = searchOf(match);
  return lists.map(({ pk, id }) => ({
    first: [after?.list === pk ? after.id : -1],
    key: BY_ID,
    page: ([last], limit) =>
      search.indexed === 'no' ? windowPage(search, pk, last, now, limit) : accessPage(search, pk, last, now, limit, indexedBy),
    rule: (row) => ruleOf('access_rule', row, id),
    place: ([last]) => ({ list: pk, id: Math.max(0, Number(last)) }),
  }));
}

/** None if the list is deleted. */
function listsFrom(lists: RuleSource['lists'], listId: string): RuleSource['lists'] {
  const at = lists.findIndex(({ id }) => id === listId);
  return at < 0 ? [] : lists.slice(at);
}

const BY_ID = ['id'];
const BY_REF = ['rule_ref'];
const BY_ORDER = ['order', 'rule_ref'];

export const keyOf = (columns: readonly string[], row: Row): Key => columns.map((column) => row[column] as Value);

/** Fewer than `limit` rows: the last page. */
function* completePage(key: readonly string[], text: string, values: readonly Value[], limit: number): Work<Page> {
  const rows = yield* all(text, ...values);
  const last = rows[limit - 1];
  return { rows, next: last && keyOf(key, last) };
}

/** Values from `$4`. */
interface Search {
  readonly condition: string;
  readonly values: readonly Value[];
  /** `yes`: the condition names targets, which are indexed; `all`: no condition. */
  readonly indexed: 'yes' | 'no' | 'all';
}

const BY_TARGET = { access_rules_value: 'IS NULL', access_rules_ref_value: 'IS NOT NULL' };

function accessPage(search: Search, listPk: number, after: Value, now: number, limit: number, indexedBy: IndexedBy): Work<Page> {
  const { condition, values, indexed } = search;
  const byTarget = Object.entries(BY_TARGET).map(
    ([index, ref]) => `SELECT * FROM access_rules ${indexedBy(index)}
    WHERE list_pk = $1 AND action IN (0, 1) AND ${condition} AND rule_ref ${ref} AND +id > $2 AND ${ACTIVE}`,
  );
  const from = indexed === 'yes' ? `(${byTarget.join(' UNION ALL ')}) found` : `access_rules WHERE list_pk = $1 AND id > $2 AND ${ACTIVE}`;
  // The sign keeps PostgreSQL from walking the list in id order.
  const order = indexed === 'yes' ? '+id' : 'id';
  return completePage(BY_ID, `SELECT * FROM ${from} ORDER BY ${order} LIMIT ${limit}`, [listPk, Number(after), now, ...values], limit);
}

/** May return none. */
function* windowPage({ condition, values }: Search, listPk: number, after: Value, now: number, limit: number): Work<Page> {
  const end = yield* one(
    `SELECT max(id) AS last, count(*) AS rules FROM (SELECT id FROM access_rules WHERE list_pk = $1 AND id > $2 ORDER BY id LIMIT ${PAGE}) found`,
    listPk,
    Number(after),
  );
  const { last, rules } = end as Row;
  if (last === null) return { rows: [], next: undefined };
  const rows = yield* all(
    `SELECT * FROM access_rules WHERE list_pk = $1 AND id > $2 AND ${ACTIVE} AND ${condition} AND id <= $6 ORDER BY id LIMIT ${limit}`,
    listPk,
    Number(after),
    now,
    ...values,
    Number(last),
  );
  if (rows.length === limit) return { rows, next: [Number(rows[limit - 1].id)] };
  return { rows, next: Number(rules) < PAGE ? undefined : [Number(last)] };
}

function searchOf(match: RuleMatch | undefined): Search {
  if (match === undefined) return { condition: '', values: [], indexed: 'all' };
  switch (match.how) {
    case 'exact':
      return targetSearch([formatTarget(match.target)]);
    case 'covering':
      return targetSearch(networksAround(match.network).map((network) => formatTarget({ kind: 'ip', network })));
    case 'geo':
      // Countries and ASNs begin with a capital letter, addresses with a digit, a small letter or a colon.
      return { condition: "target >= 'A' AND target < '['", values: [], indexed: 'yes' };
    case 'covered':
      return insideSearch(match.network);
  }
}

const targetSearch = (targets: readonly string[]): Search => ({
  condition: `target IN (${targets.map((_, i) => `$${i + 4}`)})`,
  values: targets,
  indexed: 'yes',
});

/** Packed subnetworks lie between the network and its last address. */
function insideSearch(network: Network): Search {
  const [column, pack] = network.family === 4 ? (['v4', packV4] as const) : (['v6', packV6] as const);
  const ends = [network, lastHost(network)].map((each) => pack({ kind: 'ip', network: each }));
  return { condition: `${column} BETWEEN $4 AND $5`, values: ends, indexed: 'no' };
}
