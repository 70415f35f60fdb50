/** Yields between steps over few rules and lists. */
import type { StepPlace } from '../../ports/stored/rule-queries.ts';
import type { RuleStep, StepFilter } from '../../ports/stored/rule-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { type ExpressionKind, isExpressionKind } from '../../rule.ts';
import { workspacePk } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, one, type Work } from '../work.ts';
import {
  enforcementStretches,
  type IndexedBy,
  type Key,
  keyOf,
  type ListKey,
  type ListPlace,
  listStretches,
  type NamedStretch,
  PAGE,
  type Page,
  sourceOf,
} from './rule-pages.ts';

const STEP_PAGES = 25;
const STEP_LISTS = 50;

export function* ruleStep(indexedBy: IndexedBy, workspaceId: string, filter: StepFilter): Work<RuleStep> {
  const { stretches, rest } = yield* stretchesOfStep(indexedBy, workspaceId, filter);
  const rules: StoredRule[] = [];
  const places: StepPlace[] = [];
  let pages = 0;
  for (const { first, key, page, rule, place } of stretches) {
    for (let after: Key | undefined = first; after !== undefined; ) {
      if (rules.length >= filter.limit || pages === STEP_PAGES) return { rules, places, next: place(after) };
      const { rows, next }: Page = yield* page(after, Math.min(PAGE, filter.limit - rules.length));
      pages += 1;
      for (const row of rows) {
        rules.push(rule(row));
        places.push(place(keyOf(key, row)));
      }
      after = next;
    }
  }
  return { rules, places, next: rest };
}

/** null: none. */
interface StretchesOfStep {
  readonly stretches: readonly NamedStretch[];
  readonly rest: StepPlace | null;
}

const NONE: StretchesOfStep = { stretches: [], rest: null };

function* stretchesOfStep(indexedBy: IndexedBy, workspaceId: string, { after, ...filter }: StepFilter): Work<StretchesOfStep> {
  const { kind, listId, now } = filter;
  if (isExpressionKind(kind) || listId !== undefined) {
    const source = yield* sourceOf(workspaceId, filter);
    if (source === undefined) return NONE;
    if (isExpressionKind(kind)) return { stretches: enforcedStretches(kind, source.workspacePk, now, after), rest: null };
    const lists = source.lists.filter(({ pk }) => pk >= listIn(after));
    return { stretches: listStretches(lists, filter, placeIn(after), indexedBy), rest: null };
  }
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return NONE;
  const { lists, rest } = yield* listsOfStep(workspace, listIn(after));
  return { stretches: listStretches(lists, filter, placeIn(after), indexedBy), rest };
}

const placeIn = (after: StepPlace | undefined): ListPlace | undefined => (after !== undefined && 'list' in after ? after : undefined);
const listIn = (after: StepPlace | undefined): number => placeIn(after)?.list ?? 0;

const WINDOW = `SELECT max(pk) AS last, count(*) AS lists FROM
  (SELECT pk FROM lists WHERE workspace_pk = $1 AND pk >= $2 ORDER BY pk LIMIT ${STEP_LISTS}) found`;
const FILLED = `SELECT pk, id FROM lists l WHERE workspace_pk = $1 AND pk BETWEEN $2 AND $3
  AND EXISTS (SELECT 1 FROM access_rules r WHERE r.list_pk = l.pk) ORDER BY pk`;

/** Those with rules. */
function* listsOfStep(workspace: number, from: number): Work<{ lists: ListKey[]; rest: StepPlace | null }> {
  const window = (yield* one(WINDOW, workspace, from)) as Row;
  const last = Number(window.last ?? 0);
  const rows = yield* all(FILLED, workspace, from, last);
  const isLast = Number(window.lists) < STEP_LISTS;
  return { lists: rows.map((row) => ({ pk: Number(row.pk), id: String(row.id) })), rest: isLast ? null : { list: last + 1, id: 0 } };
}

function enforcedStretches(kind: ExpressionKind, workspace: number, now: number, after: StepPlace | undefined): NamedStretch[] {
  const place = after !== undefined && 'order' in after ? after : undefined;
  const [ordered, unordered] = enforcementStretches(kind, workspace, now);
  if (place === undefined) return [ordered, unordered];
  return place.order === null
    ? [{ ...unordered, first: [place.ruleRef] }]
    : [{ ...ordered, first: [place.order, place.ruleRef] }, unordered];
}
