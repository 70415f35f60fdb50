/** Giving rules another expiry, reason or list in place: what of them changes, and what stays (SPEC D33.1). */

import type { Network } from '@weir/network/network.ts';
import type { AccessList } from '../../account/list.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { AccessRule, ExpressionRule } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';
import { formatTarget } from '../../signal/target.ts';
import { readUntil } from '../../text/duration.ts';

/** What rules are given; what is absent stays. */
export interface RuleEdit {
  /** ms since 1970, a whole second. */
  readonly expiresAt?: number | 'never' | undefined;
  /** null: none. */
  readonly reason?: string | null | undefined;
  /** Of access rules: where they go. */
  readonly list?: AccessList | undefined;
}

/** What an edit does to rules. */
export interface EditPlan {
  /** Stay in their list, and are changed there. */
  readonly set: readonly StoredRule[];
  /** Go to the other list. */
  readonly moved: readonly StoredRule[];
  /** How many have all of it already. */
  readonly unchanged: number;
  /** Stay as they are, and why. */
  readonly refused: readonly RefusedRule[];
}

export interface RefusedRule {
  readonly rule: StoredRule;
  readonly why: string;
}

const LEAST = 60_000;
const MOST = LIMITS.expirySeconds * 1000;
/** What lives longer than this is told as living for ever (SPEC D18.53), ms. */
const FOR_EVER = MOST / 2;

/** The instant (ms) that a text names: a duration from `now`, an instant, or `never`; else what is wrong with it. */
export function readExpiry(text: string, now: number): number | 'never' | { readonly fault: string } {
  if (text === 'never') return 'never';
  const at = readUntil(text, now);
  if (at === undefined) return { fault: 'must be a duration such as 3600 or 7d, an instant such as 2026-11-22T08:00:00Z, or never' };
  const whole = Math.ceil(at / 1000) * 1000;
  if (whole < now + LEAST || whole > now + MOST) return { fault: 'must lie between a minute and 100 years from now' };
  return whole;
}

/** The rule as it is then. A block for good lives the longest that one may. `now`: ms. */
export function edited<R extends AccessRule | ExpressionRule>(rule: R, { expiresAt, reason }: RuleEdit, now: number): R {
  return {
    ...rule,
    ...(expiresAt !== undefined && { expiresAt: expiresAt === 'never' ? endOf(rule, now) : expiresAt }),
    ...(reason !== undefined && { reason }),
  };
}

/** When a rule ends that does not end, ms. */
const endOf = (rule: AccessRule | ExpressionRule, now: number): number | null =>
  'target' in rule && rule.action === 'block' ? Math.floor((now + MOST) / 1000) * 1000 : null;

const isForEver = (expiresAt: number | null, now: number) => expiresAt === null || expiresAt > now + FOR_EVER;

/** Whether the rule has all of it already. */
function hasAll({ rule, listId }: StoredRule, { expiresAt, reason, list }: RuleEdit, now: number): boolean {
  const ends = expiresAt === undefined || (expiresAt === 'never' ? isForEver(rule.expiresAt, now) : rule.expiresAt === expiresAt);
  return ends && (reason === undefined || rule.reason === reason) && (list === undefined || listId === list.id);
}

/** What an edit is planned with. */
export interface EditPorts {
  readonly reads: Pick<StoreReads, 'namedRules' | 'rulesById'>;
  readonly workspaceId: string;
  /** ms. */
  readonly now: number;
  /** Why guard rails let no block reach a network; empty where they do. */
  readonly blockFaults: (network: Network) => readonly string[];
}

/** What an edit of these rules does. A block that guard rails refuse is not made to last longer, nor to be elsewhere. */
export async function planEdit(ports: EditPorts, rules: readonly StoredRule[], edit: RuleEdit): Promise<EditPlan> {
  const { now, blockFaults } = ports;
  const [set, moved, refused]: [StoredRule[], StoredRule[], RefusedRule[]] = [[], [], []];
  let unchanged = 0;
  const taken = await takenIn(ports, rules, edit);
  for (const stored of rules) {
    if (hasAll(stored, edit, now)) {
      unchanged += 1;
      continue;
    }
    const goes = edit.list !== undefined && stored.listId !== edit.list.id;
    const lasts = endsAt(edited(stored.rule, edit, now)) > endsAt(stored.rule);
    const why = goes || lasts ? guardFault(stored, blockFaults) : undefined;
    const clash = goes ? taken(stored) : undefined;
    if (why !== undefined || clash !== undefined) refused.push({ rule: stored, why: why ?? clash! });
    else (goes ? moved : set).push(stored);
  }
  return { set, moved, unchanged, refused };
}

const endsAt = ({ expiresAt }: AccessRule | ExpressionRule) => expiresAt ?? Number.POSITIVE_INFINITY;

function guardFault({ rule }: StoredRule, blockFaults: EditPorts['blockFaults']): string | undefined {
  if (!('target' in rule) || rule.action !== 'block' || rule.target.kind !== 'ip') return undefined;
  const faults = blockFaults(rule.target.network);
  return faults.length === 0 ? undefined : `it ${faults.join(', and ')}`;
}

/** Why a rule cannot go to the list: a rule of it, or one that goes there as well, is what this one would be. */
async function takenIn(
  { reads, workspaceId, now }: EditPorts,
  rules: readonly StoredRule[],
  { list }: RuleEdit,
): Promise<(stored: StoredRule) => string | undefined> {
  if (list === undefined) return () => undefined;
  const going = rules.filter(({ listId }) => listId !== list.id).map(({ rule }) => rule as AccessRule);
  const refs = going.flatMap(({ ruleRef }) => ruleRef ?? []);
  const named = await reads.namedRules(workspaceId, list.id, refs, [...new Set(going.map(({ target }) => formatTarget(target)))]);
  const there = await reads.rulesById(
    workspaceId,
    'access_rule',
    named.map(({ id }) => id),
  );
  const active = there.filter(({ rule }) => rule.expiresAt === null || rule.expiresAt > now);
  const seen = new Map(active.map(({ rule }) => [identityOf(rule as AccessRule), `the list "${list.name}" has a rule of its own there`]));
  return ({ rule }) => {
    const identity = identityOf(rule as AccessRule);
    const clash = seen.get(identity);
    if (clash === undefined) seen.set(identity, `another of these rules goes to the list "${list.name}" in its place`);
    return clash;
  };
}

/** What a rule is known by in its list (SPEC D3.10). */
const identityOf = ({ ruleRef, action, target }: AccessRule): string => ruleRef ?? `${action} ${formatTarget(target)}`;
