/** SPEC D33.1. */

import type { Network } from '@weir/network/network.ts';
import type { AccessList } from '../../account/list.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { AccessRule, ExpressionRule } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';
import { formatTarget } from '../../signal/target.ts';
import { readUntil } from '../../text/duration.ts';

/** Absent fields stay. */
export interface RuleEdit {
  /** ms since 1970, a whole second. */
  readonly expiresAt?: number | 'never' | undefined;
  /** null: none. */
  readonly reason?: string | null | undefined;
  /** To move to. */
  readonly list?: AccessList | undefined;
}

export interface EditPlan {
  readonly set: readonly StoredRule[];
  readonly moved: readonly StoredRule[];
  readonly unchanged: number;
  readonly refused: readonly RefusedRule[];
}

export interface RefusedRule {
  readonly rule: StoredRule;
  readonly why: string;
}

const LEAST = 60_000;
const MOST = LIMITS.expirySeconds * 1000;
/** Longer is displayed as permanent (SPEC D18.53), ms. */
const FOR_EVER = MOST / 2;

/** A duration, an instant (ms), or `never`. */
export function readExpiry(text: string, now: number): number | 'never' | { readonly fault: string } {
  if (text === 'never') return 'never';
  const at = readUntil(text, now);
  if (at === undefined) return { fault: 'must be a duration such as 3600 or 7d, an instant such as 2026-11-22T08:00:00Z, or never' };
  const rounded = Math.ceil(at / 1000) * 1000;
  if (rounded < now + LEAST || rounded > now + MOST) return { fault: 'must lie between a minute and 100 years from now' };
  return rounded;
}

/** A permanent block gets the longest expiry. `now`: ms. */
export function edited<R extends AccessRule | ExpressionRule>(rule: R, { expiresAt, reason }: RuleEdit, now: number): R {
  return {
    ...rule,
    ...(expiresAt !== undefined && { expiresAt: expiresAt === 'never' ? endOf(rule, now) : expiresAt }),
    ...(reason !== undefined && { reason }),
  };
}

/** Of a permanent rule, ms. */
const endOf = (rule: AccessRule | ExpressionRule, now: number): number | null =>
  'target' in rule && rule.action === 'block' ? Math.floor((now + MOST) / 1000) * 1000 : null;

const isForEver = (expiresAt: number | null, now: number) => expiresAt === null || expiresAt > now + FOR_EVER;

function hasAll({ rule, listId }: StoredRule, { expiresAt, reason, list }: RuleEdit, now: number): boolean {
  const ends = expiresAt === undefined || (expiresAt === 'never' ? isForEver(rule.expiresAt, now) : rule.expiresAt === expiresAt);
  return ends && (reason === undefined || rule.reason === reason) && (list === undefined || listId === list.id);
}

export interface EditPorts {
  readonly reads: Pick<StoreReads, 'namedRules' | 'rulesById'>;
  readonly workspaceId: string;
  /** ms. */
  readonly now: number;
  /** Empty: allowed. */
  readonly blockFaults: (network: Network) => readonly string[];
}

/** Refused blocks cannot be extended or moved. */
export async function planEdit(ports: EditPorts, rules: readonly StoredRule[], edit: RuleEdit): Promise<EditPlan> {
  const { now, blockFaults } = ports;
  const [set, moved, refused]: [StoredRule[], StoredRule[], RefusedRule[]] = [[], [], []];
  let unchanged = 0;
  const clashOf = await clashesIn(ports, rules, edit);
  for (const stored of rules) {
    if (hasAll(stored, edit, now)) {
      unchanged += 1;
      continue;
    }
    const isMoved = edit.list !== undefined && stored.listId !== edit.list.id;
    const isExtended = endsAt(edited(stored.rule, edit, now)) > endsAt(stored.rule);
    const why = isMoved || isExtended ? guardFault(stored, blockFaults) : undefined;
    const clash = isMoved ? clashOf(stored) : undefined;
    if (why !== undefined || clash !== undefined) refused.push({ rule: stored, why: why ?? clash! });
    else (isMoved ? moved : set).push(stored);
  }
  return { set, moved, unchanged, refused };
}

const endsAt = ({ expiresAt }: AccessRule | ExpressionRule) => expiresAt ?? Number.POSITIVE_INFINITY;

function guardFault({ rule }: StoredRule, blockFaults: EditPorts['blockFaults']): string | undefined {
  if (!('target' in rule) || rule.action !== 'block' || rule.target.kind !== 'ip') return undefined;
  const faults = blockFaults(rule.target.network);
  return faults.length === 0 ? undefined : `it ${faults.join(', and ')}`;
}

/** The list has the same rule, or another moved rule is the same. */
async function clashesIn(
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
  const seen = new Map(active.map(({ rule }) => [identityOf(rule as AccessRule), `the list "${list.name}" already has this rule`]));
  return ({ rule }) => {
    const identity = identityOf(rule as AccessRule);
    const clash = seen.get(identity);
    if (clash === undefined) seen.set(identity, `another of these rules becomes the same rule in the list "${list.name}"`);
    return clash;
  };
}

/** Within a list (SPEC D3.10). */
const identityOf = ({ ruleRef, action, target }: AccessRule): string => ruleRef ?? `${action} ${formatTarget(target)}`;
