/** SPEC D9.6, D10.6. */

import type { StoreReads } from '../../ports/store.ts';
import type { RuleMatch, StepPlace } from '../../ports/stored/rule-queries.ts';
import type { RuleOrigin } from '../../ports/stored/rule-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { hasLabel, type Kind, type Level, type RuleType, type Target } from '../../rule.ts';

/** Absent conditions match every rule. */
export interface RuleConditions {
  readonly kind: Kind;
  readonly listId?: string | undefined;
  /** Access rules only: by target. */
  readonly match?: RuleMatch | undefined;
  /** Networks with a shorter prefix. */
  readonly widerThan?: number | undefined;
  readonly targetKind?: Target['kind'] | undefined;
  readonly confidence?: Level | undefined;
  readonly severity?: Level | undefined;
  /** Expression rules only. */
  readonly type?: RuleType | undefined;
  readonly action?: string | undefined;
  readonly labels?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly reason?: string | undefined;
  /** Lower case. */
  readonly reasonContains?: string | undefined;
  /** Created or changed, ms. */
  readonly since?: number | undefined;
  /** ms; exclusive, and inclusive with rules that never expire. */
  readonly expiresBefore?: number | undefined;
  readonly expiresFrom?: number | undefined;
  /** Of the last write. */
  readonly key?: string | undefined;
  readonly batch?: string | undefined;
  /** By name or the provider's id. */
  readonly person?: string | undefined;
}

export interface OriginRule {
  readonly stored: StoredRule;
  readonly origin: RuleOrigin | undefined;
}

export async function withOrigins(
  reads: Pick<StoreReads, 'origins'>,
  workspaceId: string,
  rules: readonly StoredRule[],
): Promise<OriginRule[]> {
  const origins = await reads.origins(
    workspaceId,
    rules.map(({ seq }) => seq),
  );
  return rules.map((stored) => ({ stored, origin: origins.get(stored.seq) }));
}

/** Conditions that the store does not check. */
export async function meeting(
  reads: Pick<StoreReads, 'origins'>,
  workspaceId: string,
  conditions: RuleConditions,
  rules: readonly StoredRule[],
): Promise<StoredRule[]> {
  const { key, person } = conditions;
  const batch = conditions.batch?.toLowerCase();
  const found = rules.filter((rule) => meets(rule, conditions));
  if ((key ?? batch ?? person) === undefined || found.length === 0) return found;
  return (await withOrigins(reads, workspaceId, found))
    .filter(
      ({ origin }) =>
        origin !== undefined &&
        (key ?? origin.keyId) === origin.keyId &&
        (batch ?? origin.batchId) === origin.batchId &&
        (person === undefined || person === origin.actor || person === origin.personId),
    )
    .map(({ stored }) => stored);
}

function meets({ rule, updatedAt }: StoredRule, conditions: RuleConditions): boolean {
  const {
    action,
    reason,
    reasonContains,
    widerThan,
    since,
    labels = [],
    targetKind,
    confidence,
    severity,
    type,
    expiresBefore,
    expiresFrom,
  } = conditions;
  const expires = rule.expiresAt ?? Number.POSITIVE_INFINITY;
  if (action !== undefined && rule.action !== action) return false;
  if (reason !== undefined && rule.reason !== reason) return false;
  if (reasonContains !== undefined && rule.reason?.toLowerCase().includes(reasonContains) !== true) return false;
  if (since !== undefined && updatedAt < since) return false;
  if (expiresBefore !== undefined && expires >= expiresBefore) return false;
  if (expiresFrom !== undefined && expires < expiresFrom) return false;
  if (!labels.every(([name, value]) => hasLabel(rule.labels, name, value))) return false;
  if ('expression' in rule) return type === undefined || rule.type === type;
  if (widerThan !== undefined && !(rule.target.kind === 'ip' && rule.target.network.prefix < widerThan)) return false;
  return (
    (targetKind ?? rule.target.kind) === rule.target.kind &&
    (confidence ?? rule.confidence) === rule.confidence &&
    (severity ?? rule.severity) === rule.severity
  );
}

/** Rules per step, steps per page. */
const STEP = 250;
const MOST_STEPS = 120;

export interface PageOptions {
  /** ms since 1970 */
  readonly now: number;
  readonly after: StepPlace | undefined;
  /** At most 1,000. */
  readonly limit: number;
  /** Yields to other work between steps. */
  readonly pause: () => Promise<void>;
}

/** `next` null: no more rules. */
export interface RulePage {
  readonly rules: readonly StoredRule[];
  readonly next: StepPlace | null;
}

/** A page may be short although more rules follow; only `next` shows the end. */
export async function rulePage(
  reads: Pick<StoreReads, 'origins' | 'ruleStep'>,
  workspaceId: string,
  conditions: RuleConditions,
  { now, after, limit, pause }: PageOptions,
): Promise<RulePage> {
  const { kind, listId, match } = conditions;
  const isPlain = !isNarrowing(conditions);
  const rules: StoredRule[] = [];
  let place = after;
  for (let n = 0; n < MOST_STEPS; n += 1) {
    if (n > 0) await pause();
    const wanted = isPlain ? Math.min(STEP, limit - rules.length) : STEP;
    const step = await reads.ruleStep(workspaceId, { kind, now, limit: wanted, listId, match, after: place });
    const { rules: looked, places, next } = step;
    const found = await meeting(reads, workspaceId, conditions, looked);
    const matching = found.slice(0, limit - rules.length);
    rules.push(...matching);
    if (matching.length < found.length) return { rules, next: places[looked.indexOf(rules[rules.length - 1]!)]! };
    if (next === null) return { rules, next: null };
    place = next;
    if (rules.length === limit) break;
  }
  return { rules, next: place ?? null };
}

/** Has a condition that the store does not check. */
const isNarrowing = ({ kind: _kind, listId: _listId, match: _match, ...rest }: RuleConditions): boolean =>
  Object.values(rest).some((given) => given !== undefined);

/** undefined for an invalid text. */
export const placeText = (place: StepPlace): string =>
  'list' in place ? `${place.list}/${place.id}` : `${place.order ?? ''}:${place.ruleRef}`;

export function readPlace(kind: Kind, text: string): StepPlace | undefined {
  if (kind === 'access_rule') {
    const [, list, id] = /^(\d{1,15})\/(\d{1,15})$/.exec(text) ?? [];
    return list === undefined ? undefined : { list: Number(list), id: Number(id) };
  }
  const [, order, ruleRef] = /^(-?\d{1,16})?:(.{1,128})$/.exec(text) ?? [];
  return ruleRef === undefined ? undefined : { order: order === undefined ? null : Number(order), ruleRef };
}
