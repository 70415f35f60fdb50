/** What a rule with the action `ratelimit` has to say for agents (SPEC D13.10). */
import type { ExpressionRule, JsonObject } from '../rule.ts';
import type { Signal } from './schema.ts';

const FIELDS = ['period', 'duration', 'requests'] as const;
const COUNT = /^\d{1,15}$/;

/** `config.rateLimit` with its seconds, seconds and count as texts; undefined when one of them is missing or is no whole number. */
export function rateLimitOf(config: JsonObject | null): JsonObject | undefined {
  const given = config?.rateLimit;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const texts = FIELDS.map((field) => [field, String(given[field])] as const);
  return texts.every(([, text]) => COUNT.test(text)) ? { ...given, ...Object.fromEntries(texts) } : undefined;
}

/** The warnings of an accepted entry, which name its rule. */
export function warningsOf(signal: Signal): string[] {
  if (signal.version === 1) return [];
  const { op, rule_ref: ref, rule } = signal.envelope;
  if (op !== 'upsert' || rule === undefined) return [];
  const warning = warningOf({ action: rule.action ?? 'block', config: rule.config ?? null });
  return warning === null ? [] : [`${ref}: ${warning}`];
}

/** What an agent would ignore of a rule without a word, or null. */
export const warningOf = ({ action, config }: Pick<ExpressionRule, 'action' | 'config'>): string | null =>
  action === 'ratelimit' && rateLimitOf(config) === undefined
    ? `ratelimit without config.rateLimit (${FIELDS.join(', ')}, each a whole number): agents ignore this rule`
    : null;
