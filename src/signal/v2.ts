import { parseExpression } from '../expression/parser.ts';
import type { Scheme, Schemes } from '../expression/scheme.ts';
import { type ExpressionKind, KINDS, type Kind } from '../rule.ts';
import { type GeoCheck, parseTarget } from './check.ts';
import { lifetime } from './expiry.ts';
import { LIMITS } from './limits.ts';
import { type Fields, isObject, lower, normalizeEnvelope } from './normalize.ts';
import { AnyEnvelope, ENVELOPES, type Envelope, type Signal } from './schema.ts';
import { writeTarget } from './target.ts';
import { compile, type Fault } from './validate.ts';

/** What v2 entries are judged by, besides their schema. */
export interface EnvelopeCheck extends GeoCheck {
  readonly schemes: Schemes;
  /** The caller's key is bound to a list: it may send access rules only. */
  readonly listBound: boolean;
}

/** The faults of an entry; `expression` is kept apart because it is worded differently. */
interface EnvelopeFaults {
  readonly faults: Fault[];
  readonly expression?: string;
}

const RULE_TYPES = ENVELOPES.waf_rule.properties.rule.properties.type.enum;
const faultsOf = { ...mapKinds((kind) => compile(ENVELOPES[kind])), unknown: compile(AnyEnvelope) };

/** The fault of a v2 envelope that refuses the whole batch: `rule.type` (spec 4.2). */
export function envelopeRefusals(entry: Fields): Fault[] {
  if (!isExpressionKind(entry.kind) || entry.op !== 'upsert') return [];
  const type = isObject(entry.rule) ? lower(entry.rule.type) : undefined;
  if (RULE_TYPES.some((known) => known === type)) return [];
  return [{ field: 'rule.type', message: `rule.type is required and must be one of ${RULE_TYPES.join(', ')}` }];
}

/** The value behind the field that `envelopeRefusals` names. */
export const refusedRuleType = (entry: Fields) => (isObject(entry.rule) ? entry.rule.type : undefined);

/** One v2 envelope (spec 2.2), or its faults. */
export function parseEnvelope(entry: Fields, check: EnvelopeCheck): Signal | EnvelopeFaults {
  const envelope = normalizeEnvelope(entry);
  const kind = KINDS.find((known) => known === envelope.kind);
  const faults = [...faultsOf[kind ?? 'unknown'](envelope)];
  if (kind === undefined) return { faults };
  const expression = kind === 'access_rule' ? checkAccessRule(envelope, check, faults) : checkExpressionRule(kind, envelope, check, faults);
  if (faults.length > 0 || expression !== undefined) return { faults, expression };
  return { version: 2, envelope: envelope as Envelope };
}

function checkAccessRule(envelope: Fields, check: EnvelopeCheck, faults: Fault[]): undefined {
  const { op, rule_ref: ref, rule } = envelope;
  if (rule === undefined) {
    if (op === 'delete' && ref === undefined) faults.push({ field: 'rule.target', message: 'is required to delete without rule_ref' });
    return;
  }
  if (!isObject(rule) || !isObject(rule.target)) return;
  const target = parseTarget(rule.target, 'rule.target.', check, faults);
  if (target === undefined || faults.length > 0) return;
  rule.target = writeTarget(target);
  if (op === 'upsert') setLifetime('access_rule', envelope, rule);
}

function checkExpressionRule(kind: ExpressionKind, envelope: Fields, check: EnvelopeCheck, faults: Fault[]): string | undefined {
  const { op, rule } = envelope;
  if (check.listBound) faults.push({ field: 'kind', message: 'must be access_rule: the API key is bound to an access-rules list' });
  if (op !== 'upsert' || !isObject(rule)) return undefined;
  if (kind === 'smart_firewall_rule' && rule.phase !== undefined) {
    faults.push({ field: 'rule.phase', message: 'is not allowed for smart_firewall_rule' });
  }
  const known = faults.some(({ field }) => field === 'rule.expression');
  const expression = known ? undefined : checkExpression(rule.expression as string, rule.phase, check.schemes[kind], faults);
  if (faults.length === 0) setLifetime(kind, envelope, rule);
  return expression;
}

function checkExpression(text: string, phase: unknown, scheme: Scheme, faults: Fault[]): string | undefined {
  const parsed = parseExpression(text, scheme);
  if (!parsed.ok) return `(${parsed.fault.line}:${parsed.fault.column}) ${parsed.fault.text}`;
  if (parsed.regexes > LIMITS.regexes) {
    faults.push({ field: 'rule.expression', message: `must hold at most ${LIMITS.regexes} regular expressions` });
  }
  if (phase === 'request' && parsed.phase === 'response') {
    faults.push({ field: 'rule.phase', message: 'must be response: the expression uses a field of the response' });
  }
  return undefined;
}

function setLifetime(kind: Kind, envelope: Fields, rule: Fields): void {
  envelope.expires_in = lifetime(kind, rule.action as string, envelope.expires_in as number | undefined) ?? undefined;
}

const isExpressionKind = (kind: unknown): kind is ExpressionKind => kind === 'waf_rule' || kind === 'smart_firewall_rule';

function mapKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, T>;
}
