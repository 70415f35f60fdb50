/** The rules of one kind as a document: all fields, in order of enforcement (SPEC D13.1 to D13.3). */
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { type ExpressionRule, hasLabel, isExpressionKind, type Kind, RULE_KINDS } from '../../rule.ts';
import { ruleJson } from '../../signal/rule-json.ts';
import type { RulePlace, RulesVariant } from '../document.ts';
import { contentHash } from '../formats/stamp.ts';
import { expiryOf, MOST_RULES, type Snapshot } from '../index/snapshot.ts';
import type { OverCap, RenderedDocument } from './render-feed.ts';

export type PhaseOf = (kind: Kind, expression: string) => 'request' | 'response';

/** Excludes rules expiring by `asOf` (whole seconds). */
export function renderRules(
  snapshot: Snapshot,
  variant: RulesVariant,
  { asOf, phaseOf }: { readonly asOf: number; readonly phaseOf: PhaseOf },
): RenderedDocument | OverCap {
  const kind = variant.document;
  const count = snapshot.stored.get(kind)?.count ?? 0;
  const { rules: active, nextExpiry } = activeRules(snapshot, kind, asOf);
  if (count > MOST_RULES) return { kind: 'too_large', facts: { entryCount: count, entryLimit: MOST_RULES, nextExpiry }, hint: HINT };
  const found = active.filter(
    ({ rule }) => hasType(rule, variant.type) && (variant.label === null || hasLabel(rule.labels, ...variant.label)),
  );
  const { rules, next } = pageOf(found, variant.page);
  const lines = rules.map((rule) => JSON.stringify(ruleDocument(rule, phaseOf)));
  const body = `{"rules":[${lines.length === 0 ? '' : `\n${lines.join(',\n')}\n`}],"next":${JSON.stringify(next)}}\n`;
  const text = { bytes: new TextEncoder().encode(body), stampsAt: [] };
  return { kind: 'rendered', facts: { entryCount: rules.length, entryLimit: MOST_RULES, nextExpiry }, text, hash: contentHash(text) };
}

const HINT = 'Read the rules of one list (?list=), delete rules that are not needed, or use weir rule ls on the machine of the service.';

/** In order of enforcement, with the next expiry (whole seconds). */
export function activeRules({ stored, parts }: Snapshot, kind: Kind, asOf: number): { rules: StoredRule[]; nextExpiry: number } {
  let nextExpiry = Number.POSITIVE_INFINITY;
  const askedThrough = Math.min(parts[0].rules.renewalsAskedThrough, asOf);
  const rules = (stored.get(kind)?.rules ?? []).filter((rule) => {
    const expires = expiryOf(rule);
    if (expires !== 0 && expires > askedThrough && expires < nextExpiry) nextExpiry = expires;
    return expires === 0 || expires > asOf;
  });
  return { rules: rules.sort((a, b) => comparePlaces(placeOf(a), placeOf(b))), nextExpiry };
}

const placeOf = ({ id, rule }: StoredRule): RulePlace => ('expression' in rule ? { order: rule.order, ruleRef: rule.ruleRef } : { id });

function comparePlaces(a: RulePlace, b: RulePlace): number {
  if ('id' in a || 'id' in b) return ('id' in a ? a.id : 0) - ('id' in b ? b.id : 0);
  if (a.order !== b.order) return a.order === null ? 1 : b.order === null ? -1 : a.order - b.order;
  return a.ruleRef < b.ruleRef ? -1 : a.ruleRef > b.ruleRef ? 1 : 0;
}

function pageOf(rules: readonly StoredRule[], page: RulesVariant['page']): { rules: readonly StoredRule[]; next: string | null } {
  if (page === null) return { rules, next: null };
  const { after, limit } = page;
  const rest = after === null ? rules : rules.filter((rule) => comparePlaces(placeOf(rule), after) > 0);
  return { rules: rest.slice(0, limit), next: rest.length > limit ? placeText(placeOf(rest[limit - 1])) : null };
}

const placeText = (place: RulePlace): string => ('id' in place ? String(place.id) : `${place.order ?? ''}:${place.ruleRef}`);

const hasType = (rule: StoredRule['rule'], type: RulesVariant['type']) => type === null || ('type' in rule && rule.type === type);
/** `phase_detected`: the caller gave no phase. */
function ruleDocument(stored: StoredRule, phaseOf: PhaseOf): Record<string, unknown> {
  const { kind, rule } = stored;
  if (!isExpressionKind(kind) || !RULE_KINDS[kind].hasPhase) return ruleJson(stored);
  const { expression, config } = rule as ExpressionRule;
  const given = config?.phase;
  return { ...ruleJson(stored), ...(given === undefined ? { phase: phaseOf(kind, expression), phase_detected: true } : { phase: given }) };
}
