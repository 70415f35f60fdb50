/** Required config of `ratelimit` rules for agents (SPEC D13.10). */
import type { ExpressionRule, JsonObject } from '../rule.ts';
import type { Signal } from './schema.ts';

const FIELDS = ['period', 'duration', 'requests'] as const;
const COUNT = /^\d{1,15}$/;

/** `config.rateLimit` with its numbers as strings; undefined if one is missing or not an integer. */
export function rateLimitOf(config: JsonObject | null): JsonObject | undefined {
  const given = config?.rateLimit;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const texts = FIELDS.map((field) => [field, String(given[field])] as const);
  return texts.every(([, text]) => COUNT.test(text)) ? { ...given, ...Object.fromEntries(texts) } : undefined;
}

export function warningsOf(signal: Signal): string[] {
  if (signal.version === 1) return [];
  const { op, rule_ref: ref, rule } = signal.envelope;
  if (op !== 'upsert' || rule === undefined) return [];
  const warning = warningOf({ action: rule.action ?? 'block', config: rule.config ?? null });
  return warning === null ? [] : [`${ref}: ${warning}`];
}

/** A configuration silently ignored by agents. */
export const warningOf = ({ action, config }: Pick<ExpressionRule, 'action' | 'config'>): string | null =>
  action === 'ratelimit' && rateLimitOf(config) === undefined
    ? `ratelimit without config.rateLimit (${FIELDS.join(', ')}, each a whole number): agents ignore this rule`
    : null;
