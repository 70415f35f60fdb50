/**
 * Rules that meet conditions, counted and in an order that no index has (SPEC D33.2, D33.3): they are looked at in steps, and what was found
 * is told again for as long as that pays, so that who looks at a page costs a twentieth of the time at most.
 */
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { chunkedSort } from '../../schedule/chunked-sort.ts';
import type { fewAtOnce } from '../../serial.ts';
import { namesIn } from './rule-json.ts';
import { meeting, type OriginRule, type RuleConditions, rulePage, withOrigins } from './rule-search.ts';
import { compareKeys, type SortKey, type SortName, sortOf } from './rule-sort.ts';

/** Rules that are sorted at most, and how long they are looked for, ms. */
export const MOST_SORTED = 250_000;
const LOOKED = 15_000;
const PAGE = 1000;
/** What was found is told for so many times as long as it took, and a minute at most, ms. */
const TIMES = 20;
const KEPT = 60_000;
/** Selections that are kept: of a workspace and in all, and the rules that all of them have. */
const MOST_OF_WORKSPACE = 4;
const MOST_KEPT = 24;
const MOST_RULES = 2 * MOST_SORTED;
/** Reasons of one, and their characters. */
const MOST_REASONS = 5000;
const MOST_TEXT = 256 * 1024;

export interface RuleOrder {
  readonly sort: SortName;
  readonly descending: boolean;
}

/** What meets conditions. */
export interface RuleSelection {
  readonly total: number;
  /** Whether all rules were looked at; else there are more than `total`. */
  readonly isComplete: boolean;
  /** The reasons of those that were looked at, the first 5,000 of them, with how many rules have each. */
  readonly reasons: ReadonlyMap<string, number>;
  /** In their order, where one was asked for. */
  readonly ids: readonly number[];
  readonly keys: readonly SortKey[];
}

/** What looking for rules works with. */
export interface SelectionPorts {
  readonly store: StoreReads;
  readonly workspaceId: string;
  readonly now: () => number;
  readonly pause: () => Promise<void>;
  readonly inTurn: ReturnType<typeof fewAtOnce>;
}

export interface RuleSelections {
  /** The rules that meet conditions, as of a while ago; `asked` is how the request says which. */
  find(ports: SelectionPorts, asked: object, conditions: RuleConditions, order?: RuleOrder): Promise<RuleSelection>;
}

interface Kept {
  readonly workspaceId: string;
  readonly selection: RuleSelection;
  /** ms. */
  readonly until: number;
}

export function ruleSelections(): RuleSelections {
  /** In the order in which they were found. */
  const kept = new Map<string, Kept>();

  function keep(name: string, found: Kept): void {
    kept.delete(name);
    kept.set(name, found);
    const own = [...kept].filter(([, { workspaceId }]) => workspaceId === found.workspaceId).slice(0, -MOST_OF_WORKSPACE);
    for (const [old] of [...own, ...[...kept].slice(0, -MOST_KEPT)]) kept.delete(old);
    let rules = 0;
    for (const [old, { selection }] of [...kept].toReversed()) {
      rules += selection.ids.length;
      if (rules > MOST_RULES) kept.delete(old);
    }
  }

  return {
    async find(ports, asked, conditions, order) {
      const { workspaceId, now } = ports;
      const name = JSON.stringify([workspaceId, asked, order]);
      const known = () => {
        const found = kept.get(name);
        return found !== undefined && found.until > now() ? found.selection : undefined;
      };
      const answer = await ports.inTurn(async () => {
        // Those who have gone meanwhile look for nothing.
        await ports.pause();
        const found = known();
        if (found !== undefined) return found;
        const begun = now();
        const selection = await select(ports, conditions, order);
        const took = now() - begun;
        keep(name, { workspaceId, selection, until: now() + Math.min(KEPT, took * TIMES) });
        return selection;
      }, `rules ${workspaceId}`);
      // Many who wait for one selection would each make their page of it in the same turn.
      await ports.pause();
      return answer;
    },
  };
}

async function select(ports: SelectionPorts, conditions: RuleConditions, order: RuleOrder | undefined): Promise<RuleSelection> {
  const { store, workspaceId, now, pause } = ports;
  const found: { readonly id: number; readonly key: SortKey }[] = [];
  const reasons = new Reasons();
  const sort = order && sortOf(order.sort);
  const names = sort && (await namesIn(store, workspaceId));
  const begun = now();
  let total = 0;
  let after: Awaited<ReturnType<typeof rulePage>>['next'] | undefined;
  do {
    const { rules, next } = await rulePage(store, workspaceId, conditions, { now: now(), after: after ?? undefined, limit: PAGE, pause });
    total += rules.length;
    for (const { rule } of rules) if (rule.reason !== null) reasons.add(rule.reason);
    if (sort !== undefined) {
      const shown: readonly OriginRule[] = sort.needsOrigin ? await withOrigins(store, workspaceId, rules) : rules.map(alone);
      for (const each of shown) found.push({ id: each.stored.id, key: sort.key(each, names!) });
    }
    after = next;
    await pause();
  } while (after !== null && total < MOST_SORTED && now() < begun + LOOKED);
  const isComplete = after === null;
  const sorted = isComplete ? await chunkedSort(found, (a, b) => comparePlaces(a, b, order?.descending === true), pause) : [];
  return { total, isComplete, reasons: reasons.counts, ids: sorted.map(({ id }) => id), keys: sorted.map(({ key }) => key) };
}

const alone = (stored: StoredRule): OriginRule => ({ stored, origin: undefined });

/** Reasons as they come, as many as are kept. */
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

/** A place in an order: behind the rule with this id. */
interface Place {
  readonly id: number;
  readonly key: SortKey;
}

/** Of rules with the same key the older comes first. */
const comparePlaces = (a: Place, b: Place, descending: boolean) => compareKeys(a.key, b.key, descending) || a.id - b.id;

/** A page of rules in an order; `next` is null behind the last. */
export interface SortedPage {
  readonly rules: readonly StoredRule[];
  readonly next: string | null;
  readonly total: number;
}

/**
 * A page of a selection, of the rules as they are now: those that do not meet the conditions any more are left out. Rejects with REFUSED
 * where there are too many to be sorted.
 */
export async function sortedPage(
  { store, workspaceId, now }: SelectionPorts,
  conditions: RuleConditions,
  { ids, keys, total, isComplete }: RuleSelection,
  { after, limit, descending }: { readonly after: Place | undefined; readonly limit: number; readonly descending: boolean },
): Promise<SortedPage> {
  if (!isComplete) throw new WeirError('REFUSED', `more than ${total} rules meet these conditions, too many to be sorted: narrow them`);
  const from = after === undefined ? 0 : behind(ids, keys, after, descending);
  const wanted = ids.slice(from, from + limit);
  const end = from + wanted.length;
  const read = await store.rulesById(workspaceId, conditions.kind, wanted);
  const active = read.filter(({ rule }) => rule.expiresAt === null || rule.expiresAt > now());
  const byId = new Map((await meeting(store, workspaceId, conditions, active)).map((stored) => [stored.id, stored]));
  const next = end < ids.length ? sortedPlaceText({ id: ids[end - 1]!, key: keys[end - 1]! }) : null;
  return { rules: wanted.flatMap((id) => byId.get(id) ?? []), next, total };
}

/** The number of the first rule behind a place. */
function behind(ids: readonly number[], keys: readonly SortKey[], after: Place, descending: boolean): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePlaces({ id: ids[middle]!, key: keys[middle]! }, after, descending) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A place as a page names it, and back; undefined for a text that names none. */
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
