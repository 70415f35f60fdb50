/** Converts stored rules to signals, for moving a workspace through the stream: the inverse of landing. */
import type { StoredRule } from '../ports/stored/stored-rule.ts';
import type { AccessRule, ExpressionKind, ExpressionRule } from '../rule.ts';
import { LEAST_EXPIRY } from './expiry.ts';
import { LIMITS } from './limits.ts';
import type { ExpressionEnvelope, Signal } from './schema.ts';
import { writeTarget } from './target.ts';

export interface PastSignal {
  readonly signal: Signal;
  readonly receivedAt: number;
}

/**
 * Recreates a rule with its times: a creating signal and, if it was updated, an updating one. The first expiry is after the update, because
 * landing updates only active rules. An access rule ending less than a minute after its update keeps its end, with the update one minute
 * before (SPEC D46.3).
 */
export function ruleToSignals(stored: Omit<StoredRule, 'id' | 'listId' | 'seq'>): PastSignal[] {
  const { createdAt, updatedAt, kind, rule } = stored;
  const endsAt = kind === 'access_rule' ? rule.expiresAt : null;
  const receivedAt = endsAt === null || endsAt < updatedAt ? updatedAt : Math.min(updatedAt, endsAt - LEAST_EXPIRY * 1000);
  const update = { signal: signalOf(stored, secondsLeft(stored, receivedAt)), receivedAt };
  if (createdAt === updatedAt || (receivedAt < updatedAt && receivedAt <= createdAt)) return [update];
  const seconds = secondsLeft(stored, createdAt);
  const allowed = seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), LIMITS.expirySeconds);
  return [{ signal: signalOf(stored, allowed), receivedAt: createdAt }, update];
}

/** The `expires_in` of a signal accepted at `receivedAt`. */
const secondsLeft = ({ rule: { expiresAt } }: Pick<StoredRule, 'rule'>, receivedAt: number): number | undefined =>
  expiresAt === null ? undefined : expiresAt / 1000 - Math.ceil(receivedAt / 1000);

function signalOf({ kind, rule }: Pick<StoredRule, 'kind' | 'rule'>, seconds: number | undefined): Signal {
  if (kind !== 'access_rule') return { version: 2, envelope: expressionEnvelope(kind, rule as ExpressionRule, seconds) };
  const { name, ruleRef, reason, labels, action, target, config } = rule as AccessRule;
  if (name !== null) {
    // Only v1 events name access rules.
    const event = { type: 'access_rules', action: 'block', ...writeTarget(target), expiration: seconds, name } as const;
    return { version: 1, event: { ...event, description: reason ?? undefined }, hasEnd: true };
  }
  return {
    version: 2,
    hasEnd: true,
    envelope: {
      schema_version: 2,
      kind,
      op: 'upsert',
      rule_ref: ruleRef ?? undefined,
      expires_in: seconds,
      reason: reason ?? undefined,
      labels: labels ?? undefined,
      rule: { target: writeTarget(target), action, config: config ?? undefined },
    },
  };
}

function expressionEnvelope(kind: ExpressionKind, rule: ExpressionRule, seconds: number | undefined): ExpressionEnvelope {
  const { phase, ...config } = rule.config ?? {};
  const body = {
    name: rule.name ?? undefined,
    type: rule.type,
    expression: rule.expression,
    action: rule.action,
    order: rule.order ?? undefined,
    short_description: rule.shortDescription ?? undefined,
    ...(phase === undefined ? { config: rule.config ?? undefined } : { config, phase }),
  };
  return {
    schema_version: 2,
    kind,
    op: 'upsert',
    rule_ref: rule.ruleRef,
    expires_in: seconds,
    reason: rule.reason ?? undefined,
    labels: rule.labels ?? undefined,
    rule: body,
  };
}
