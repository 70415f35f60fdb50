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

/** Of the last write (SPEC D9.5). */
export const originJson = (origin: RuleOrigin | undefined) => ({
  batch_id: origin?.batchId ?? null,
  key_id: origin?.keyId ?? null,
  ...(origin?.actor !== undefined && { actor: origin.actor }),
  ...(origin?.personId !== undefined && { person: origin.personId }),
});

export const originRuleJson = ({ stored, origin }: OriginRule): Record<string, unknown> => ({
  ...warnedJson(stored),
  ...originJson(origin),
});

function warnedJson(stored: StoredRule): Record<string, unknown> {
  const warning = 'expression' in stored.rule ? warningOf(stored.rule) : null;
  return warning === null ? ruleJson(stored) : { ...ruleJson(stored), warning };
}

export const ruleName = ({ rule, id }: StoredRule): string =>
  'target' in rule ? formatTarget(rule.target) : (rule.name ?? rule.ruleRef ?? String(id));

/** Names by id. */
export interface Names {
  readonly lists: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  /** By the id of their list. */
  readonly sources: ReadonlyMap<string, string>;
}

export interface FeedNames extends Names {
  /** Lists and composed feeds. */
  readonly feeds: ReadonlyMap<string, string>;
}

export async function feedNamesIn(reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<FeedNames> {
  const names = await namesIn(reads, workspaceId);
  return { ...names, feeds: new Map([...names.lists, ...byId(await reads.names(workspaceId, 'feeds'))]) };
}

const byId = (things: readonly NamedThing[]) => things.map(({ id, name }) => [id, name] as const);

/** Last refresh, and creation (SPEC D23.8). */
export interface RuleSource {
  readonly name: string;
  readonly refresh: string;
  readonly since: string;
}

/** null: no source manages the list. */
export function ruleSource({ listId, createdAt, updatedAt }: StoredRule, { sources }: Names): RuleSource | null {
  const name = sources.get(listId ?? '');
  return name === undefined ? null : { name, refresh: isoTime(updatedAt)!, since: isoTime(createdAt)! };
}

export const keyNames = async (reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<Names['keys']> =>
  new Map(byId(await reads.names(workspaceId, 'keys')));

export async function namesIn(reads: Pick<StoreReads, 'names'>, workspaceId: string): Promise<Names> {
  const lists = await reads.names(workspaceId, 'lists');
  // There may be ten thousand of each.
  await nextTurn();
  const keys = await reads.names(workspaceId, 'keys');
  await nextTurn();
  const managed = lists.filter(({ sourceId }) => sourceId !== null);
  return {
    lists: new Map(byId(lists)),
    // Refreshes use the source's id as key.
    keys: new Map([...byId(keys), ...managed.map(({ sourceId, name }) => [sourceId!, `source ${name}`] as const)]),
    sources: new Map(byId(managed)),
  };
}
