/** How management shows rules to programs: their fields, who wrote them last, and what agents ignore of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isoTime } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { NamedThing } from '../../ports/stored/account-store.ts';
import type { RuleOrigin } from '../../ports/stored/rule-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { warningOf } from '../../signal/rate-limit.ts';
import { ruleJson } from '../../signal/rule-json.ts';
import { formatTarget } from '../../signal/target.ts';
import type { OriginRule } from './rule-search.ts';

/** Who wrote a rule last (SPEC D9.5). */
export const originJson = (origin: RuleOrigin | undefined) => ({
  batch_id: origin?.batchId ?? null,
  key_id: origin?.keyId ?? null,
  ...(origin?.actor !== undefined && { actor: origin.actor }),
  ...(origin?.personId !== undefined && { person: origin.personId }),
});

/** A rule with its origin, and a `warning` where agents would ignore something of it. */
export const originRuleJson = ({ stored, origin }: OriginRule): Record<string, unknown> => ({
  ...warnedJson(stored),
  ...originJson(origin),
});

function warnedJson(stored: StoredRule): Record<string, unknown> {
  const warning = 'expression' in stored.rule ? warningOf(stored.rule) : null;
  return warning === null ? ruleJson(stored) : { ...ruleJson(stored), warning };
}

/** What a rule is called where it is one of many. */
export const ruleName = ({ rule, id }: StoredRule): string =>
  'target' in rule ? formatTarget(rule.target) : (rule.name ?? rule.ruleRef ?? String(id));

/** Names of what rules belong to, by id. */
export interface Names {
  readonly lists: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  /** Of sources, by the ids of their lists. */
  readonly sources: ReadonlyMap<string, string>;
}

/** The same with what else a feed may be. */
export interface FeedNames extends Names {
  /** Lists, and feeds made of lists. */
  readonly feeds: ReadonlyMap<string, string>;
}

/** The names of lists, feeds and keys of a workspace. */
export async function feedNamesIn(reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<FeedNames> {
  const names = await namesIn(reads, workspaceId);
  return { ...names, feeds: new Map([...names.lists, ...byId(await reads.names(workspaceId, 'feeds'))]) };
}

const byId = (things: readonly NamedThing[]) => things.map(({ id, name }) => [id, name] as const);

/** Where a rule of a source's list comes from: the refresh that wrote it last, and since when it is there (SPEC D23.8). */
export interface RuleSource {
  readonly name: string;
  readonly refresh: string;
  readonly since: string;
}

/** null: no source keeps its list. */
export function ruleSource({ listId, createdAt, updatedAt }: StoredRule, { sources }: Names): RuleSource | null {
  const name = sources.get(listId ?? '');
  return name === undefined ? null : { name, refresh: isoTime(updatedAt)!, since: isoTime(createdAt)! };
}

/** The names of keys of a workspace; a key without one is told by its first characters. */
export const keyNames = async (reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<Names['keys']> =>
  new Map(byId(await reads.names(workspaceId, 'keys')));

/** The names of lists and keys of a workspace; a key without a name is told by its first characters. */
export async function namesIn(reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<Names> {
  const lists = await reads.names(workspaceId, 'lists');
  // There may be ten thousand of each: others are answered in between.
  await nextTurn();
  const keys = await reads.names(workspaceId, 'keys');
  await nextTurn();
  const kept = lists.filter(({ sourceId }) => sourceId !== null);
  return {
    lists: new Map(byId(lists)),
    // What a refresh has sent is sent by its source.
    keys: new Map([...byId(keys), ...kept.map(({ sourceId, name }) => [sourceId!, `source ${name}`] as const)]),
    sources: new Map(byId(kept)),
  };
}
