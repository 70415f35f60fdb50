import { constantHints } from '@weir/expression/hints/hints.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import type { Scheme, Schemes } from '@weir/expression/scheme.ts';
import { type ExpressionKind, isExpressionKind, KINDS, type Kind, perKind, RULE_KINDS, RULE_TYPES } from '../rule.ts';
import { parseTarget, type TargetCheck } from './check.ts';
import { lifetime } from './expiry.ts';
import { LIMITS } from './limits.ts';
import { misplacedInEnvelope } from './misplaced.ts';
import { type Fields, isObject, lower, normalizeEnvelope } from './normalize.ts';
import { AnyEnvelope, ENVELOPES, type Envelope, type Signal } from './schema.ts';
import { writeTarget } from './target.ts';
import { compile, type FieldFault } from './validate.ts';

export interface EnvelopeCheck extends TargetCheck {
  readonly schemes: Schemes;
  /** The key is bound to a list: access rules only. */
  readonly listBound: boolean;
}

export interface EnvelopeFaults {
  readonly faults: FieldFault[];
  readonly expression?: string;
}

export const envelopeFaults = { ...perKind(KINDS, (kind) => compile(ENVELOPES[kind])), unknown: compile(AnyEnvelope) };

export const kindOf = (entry: Fields): Kind | undefined => KINDS.find((known) => known === entry.kind);

/** The fault refusing the whole batch: `rule.type` (spec 4.2). */
export function envelopeRefusals(entry: Fields): FieldFault[] {
  const kind = kindOf(entry);
  if (kind === undefined || !isExpressionKind(kind) || entry.op !== 'upsert') return [];
  const type = isObject(entry.rule) ? lower(entry.rule.type) : undefined;
  if (RULE_TYPES.some((known) => known === type)) return [];
  return [{ field: 'rule.type', message: `rule.type is required and must be one of ${RULE_TYPES.join(', ')}` }];
}

export const refusedRuleType = (entry: Fields) => (isObject(entry.rule) ? entry.rule.type : undefined);

/** Parses a v2 envelope (spec 2.2), or returns its faults. `warnings` receives probable mistakes (SPEC D42.3, D42.4) and reported blocks (D62.6). */
export function parseEnvelope(entry: Fields, check: EnvelopeCheck, warnings: string[]): Signal | EnvelopeFaults {
  const envelope = normalizeEnvelope(entry);
  const kind = kindOf(envelope);
  const faults = [...envelopeFaults[kind ?? 'unknown'](envelope)];
  if (kind === undefined) return { faults };
  const expression = isExpressionKind(kind)
    ? checkExpressionRule(kind, envelope, check, faults, warnings)
    : checkAccessRule(envelope, check, faults, warnings);
  if (faults.length > 0 || expression !== undefined) return { faults, expression };
  warnings.push(...misplacedInEnvelope(entry, kind));
  return { version: 2, envelope: envelope as Envelope };
}

function checkAccessRule(envelope: Fields, check: EnvelopeCheck, faults: FieldFault[], warnings: string[]): undefined {
  const { op, rule_ref: ref, rule } = envelope;
  if (rule === undefined) {
    if (op === 'delete' && ref === undefined) faults.push({ field: 'rule.target', message: 'is required to delete without rule_ref' });
    return;
  }
  if (!isObject(rule) || !isObject(rule.target)) return;
  const place = { path: 'rule.target.', blocks: op === 'upsert' && rule.action === 'block' } as const;
  const target = parseTarget(rule.target, place, check, faults, warnings);
  if (target === undefined || faults.length > 0) return;
  rule.target = writeTarget(target);
  if (op === 'upsert') setLifetime('access_rule', envelope, rule);
}

function checkExpressionRule(
  kind: ExpressionKind,
  envelope: Fields,
  check: EnvelopeCheck,
  faults: FieldFault[],
  warnings: string[],
): string | undefined {
  const { op, rule } = envelope;
  if (check.listBound) faults.push({ field: 'kind', message: 'must be access_rule: the API key is bound to an access-rules list' });
  if (op !== 'upsert' || !isObject(rule)) return undefined;
  if (!RULE_KINDS[kind].hasPhase && rule.phase !== undefined) {
    faults.push({ field: 'rule.phase', message: `is not allowed for ${kind}` });
  }
  const known = faults.some(({ field }) => field === 'rule.expression');
  const expression = known ? undefined : checkExpression(rule.expression as string, rule.phase, check.schemes[kind], faults, warnings);
  if (faults.length === 0) setLifetime(kind, envelope, rule);
  return expression;
}

function checkExpression(text: string, phase: unknown, scheme: Scheme, faults: FieldFault[], warnings: string[]): string | undefined {
  const parsed = parseExpression(text, scheme);
  if (!parsed.ok) return `(${parsed.fault.line}:${parsed.fault.column}) ${parsed.fault.text}`;
  if (parsed.regexes > LIMITS.regexes) {
    faults.push({ field: 'rule.expression', message: `must hold at most ${LIMITS.regexes} regular expressions` });
  }
  if (phase === 'request' && parsed.phase === 'response') {
    faults.push({ field: 'rule.phase', message: 'must be response: the expression uses a field of the response' });
  }
  warnings.push(...constantHints(parsed.ast));
  return undefined;
}

function setLifetime(kind: Kind, envelope: Fields, rule: Fields): void {
  envelope.expires_in = lifetime(kind, rule.action as string, envelope.expires_in as number | undefined) ?? undefined;
}
