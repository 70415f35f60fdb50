/** Cached in proportion to their cost, so that polling uses at most a twentieth of the time (SPEC D33.2, D33.3). */
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { chunkedSort } from '../../schedule/chunked-sort.ts';
import type { fewAtOnce } from '../../serial.ts';
import { namesIn } from './rule-json.ts';
import { meeting, type OriginRule, type RuleConditions, rulePage, withOrigins } from './rule-search.ts';
import { compareKeys, type SortKey, type SortName, sortOf } from './rule-sort.ts';

/** Visited rules, and search time, ms. */
export const MOST_SORTED = 250_000;
const LOOKED = 15_000;
const PAGE = 1000;
/** Cache time: multiple of the search time, and maximum, ms. */
const TIMES = 20;
const MOST_CACHED_MS = 60_000;
/** Cached: per workspace, in all, and rules in all. */
const MOST_OF_WORKSPACE = 4;
const MOST_CACHED = 24;
const MOST_RULES = 2 * MOST_SORTED;
/** Number and total length, per selection. */
const MOST_REASONS = 5000;
const MOST_TEXT = 256 * 1024;

export interface RuleOrder {
  readonly sort: SortName;
  readonly descending: boolean;
}

export interface RuleSelection {
  readonly total: number;
  /** False: there are more. */
  readonly isComplete: boolean;
  /** The first 5,000. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Sorted on request. */
  readonly ids: readonly number[];
  readonly keys: readonly SortKey[];
}

export interface SelectionPorts {
  readonly store: StoreReads;
  readonly workspaceId: string;
  readonly now: () => number;
  readonly pause: () => Promise<void>;
  readonly inTurn: ReturnType<typeof fewAtOnce>;
}

export interface RuleSelections {
  /** Maybe cached by `asked`. */
  find(ports: SelectionPorts, asked: object, conditions: RuleConditions, order?: RuleOrder): Promise<RuleSelection>;
}

interface Cached {
  readonly workspaceId: string;
  readonly selection: RuleSelection;
  /** ms. */
  readonly until: number;
}

export function ruleSelections(): RuleSelections {
  /** Oldest first. */
  const cache = new Map<string, Cached>();

  function remember(name: string, found: Cached): void {
    cache.delete(name);
    cache.set(name, found);
    const own = [...cache].filter(([, { workspaceId }]) => workspaceId === found.workspaceId).slice(0, -MOST_OF_WORKSPACE);
    for (const [old] of [...own, ...[...cache].slice(0, -MOST_CACHED)]) cache.delete(old);
    let rules = 0;
    for (const [old, { selection }] of [...cache].toReversed()) {
      rules += selection.ids.length;
      if (rules > MOST_RULES) cache.delete(old);
    }
  }

  return {
    async find(ports, asked, conditions, order) {
      const { workspaceId, now } = ports;
      const name = JSON.stringify([workspaceId, asked, order]);
      const all = JSON.stringify([workspaceId, asked]).slice(0, -1);
      const known = () => {
        // Every order has the number and the reasons.
        const found =
          cache.get(name) ??
          (order === undefined ? cache.get([...cache.keys()].find((each) => each.startsWith(`${all},`)) ?? '') : undefined);
        return found !== undefined && found.until > now() ? found.selection : undefined;
      };
      const answer = await ports.inTurn(async () => {
        // The client may have disconnected.
        await ports.pause();
        const found = known();
        if (found !== undefined) return found;
        const begun = now();
        const selection = await select(ports, conditions, order);
        const took = now() - begun;
        remember(name, { workspaceId, selection, until: now() + Math.min(MOST_CACHED_MS, took * TIMES) });
        return selection;
      }, `rules ${workspaceId}`);
      // Waiting clients must not all build their pages in one turn.
      await ports.pause();
      return answer;
    },
  };
}

/** Visits the rules that match, up to a limit of rules and time. Returns false if there are more. */
export async function visitRules(
  { store, workspaceId, now, pause }: Omit<SelectionPorts, 'inTurn'>,
  conditions: RuleConditions,
  visit: (rules: readonly StoredRule[]) => Promise<void> | void,
): Promise<boolean> {
  const until = now() + LOOKED;
  let visited = 0;
  let after: Awaited<ReturnType<typeof rulePage>>['next'] | undefined;
  do {
    const { rules, next } = await rulePage(store, workspaceId, conditions, { now: now(), after: after ?? undefined, limit: PAGE, pause });
    visited += rules.length;
    await visit(rules);
    after = next;
    await pause();
  } while (after !== null && visited < MOST_SORTED && now() < until);
  return after === null;
}

async function select(ports: SelectionPorts, conditions: RuleConditions, order: RuleOrder | undefined): Promise<RuleSelection> {
  const { store, workspaceId, pause } = ports;
  const found: { readonly id: number; readonly key: SortKey }[] = [];
  const reasons = new Reasons();
  const sort = order && sortOf(order.sort);
  const names = sort && (await namesIn(store, workspaceId));
  let total = 0;
  const isComplete = await visitRules(ports, conditions, async (rules) => {
    total += rules.length;
    for (const { rule } of rules) if (rule.reason !== null) reasons.add(rule.reason);
    if (sort === undefined) return;
    const rows: readonly OriginRule[] = sort.needsOrigin ? await withOrigins(store, workspaceId, rules) : rules.map(alone);
    for (const each of rows) found.push({ id: each.stored.id, key: sort.key(each, names!) });
  });
  const sorted = isComplete ? await chunkedSort(found, (a, b) => comparePlaces(a, b, order?.descending === true), pause) : [];
  return { total, isComplete, reasons: reasons.counts, ids: sorted.map(({ id }) => id), keys: sorted.map(({ key }) => key) };
}

const alone = (stored: StoredRule): OriginRule => ({ stored, origin: undefined });

class Reasons {
  readonly counts = new Map<string, number>();
  #text = 0;

  add(reason: string): void {
    const count = this.counts.get(reason);
    if (count === undefined) {
      if (this.counts.size === MOST_REASONS || this.#text + reason.length > MOST_TEXT) return;
      this.#text += reason.length;
    }
    this.counts.set(reason, (count ?? 0) + 1);
  }
}

/** Behind the rule with this id. */
interface Place {
  readonly id: number;
  readonly key: SortKey;
}

/** The older rule first. */
const comparePlaces = (a: Place, b: Place, descending: boolean) => compareKeys(a.key, b.key, descending) || a.id - b.id;

/** `next` null: last page. */
export interface SortedPage {
  readonly rules: readonly StoredRule[];
  readonly next: string | null;
  readonly total: number;
}

/** Current rules that still match. Rejects with REFUSED if there are too many to sort. */
export async function sortedPage(
  { store, workspaceId, now }: SelectionPorts,
  conditions: RuleConditions,
  { ids, keys, total, isComplete }: RuleSelection,
  { after, limit, descending }: { readonly after: Place | undefined; readonly limit: number; readonly descending: boolean },
): Promise<SortedPage> {
  if (!isComplete) throw new WeirError('REFUSED', `more than ${total} rules match, which is too many to sort: narrow the conditions`);
  const from = after === undefined ? 0 : behind(ids, keys, after, descending);
  const wanted = ids.slice(from, from + limit);
  const end = from + wanted.length;
  const read = await store.rulesById(workspaceId, conditions.kind, wanted);
  const active = read.filter(({ rule }) => rule.expiresAt === null || rule.expiresAt > now());
  const byId = new Map((await meeting(store, workspaceId, conditions, active)).map((stored) => [stored.id, stored]));
  const next = end < ids.length ? sortedPlaceText({ id: ids[end - 1]!, key: keys[end - 1]! }) : null;
  return { rules: wanted.flatMap((id) => byId.get(id) ?? []), next, total };
}

function behind(ids: readonly number[], keys: readonly SortKey[], after: Place, descending: boolean): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePlaces({ id: ids[middle]!, key: keys[middle]! }, after, descending) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** undefined for an invalid text. */
const sortedPlaceText = ({ id, key }: Place): string => Buffer.from(JSON.stringify([id, key])).toString('base64url');

export function readSortedPlace(text: string): Place | undefined {
  try {
    const [id, key] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown];
    const isKey = key === null || typeof key === 'string' || typeof key === 'number';
    return typeof id === 'number' && isKey ? { id, key } : undefined;
  } catch {
    return undefined;
  }
}
