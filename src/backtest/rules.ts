/** Rules for a backtest, in enforcement order (SPEC D13.1). */
import { EXPRESSION_KINDS, type ExpressionKind } from '../rule.ts';
import type { TestedRule } from './rule.ts';

export interface OrderedRule extends TestedRule {
  readonly ref: string;
  readonly order: number | null;
}

/** By `order`, rules without it last, then by `rule_ref`. */
export const inOrder = (rules: readonly OrderedRule[]): OrderedRule[] =>
  [...rules].sort((a, b) => {
    if (a.order !== b.order) return a.order === null ? 1 : b.order === null ? -1 : a.order - b.order;
    return a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : 0;
  });

/** Reads the rules of a kind from envelopes, in a JSON array or one per line. Returns a fault as text. Deletes are ignored. */
export function readRuleFile(text: string, kind: ExpressionKind): OrderedRule[] | string {
  const entries = readEntries(text);
  if (typeof entries === 'string') return entries;
  const rules = new Map<string, OrderedRule>();
  for (const [index, entry] of entries.entries()) {
    if (!isObject(entry)) return `entry ${index} must be an object`;
    if (!EXPRESSION_KINDS.includes(entry.kind as ExpressionKind) || entry.kind !== kind || entry.op === 'delete') continue;
    const { rule, rule_ref } = entry;
    if (!isObject(rule) || typeof rule.expression !== 'string') return `entry ${index}: rule.expression must be a text`;
    const ref = typeof rule_ref === 'string' ? rule_ref : `entry ${index}`;
    rules.set(ref, {
      ref,
      name: typeof rule.name === 'string' ? rule.name : ref,
      expression: rule.expression,
      action: typeof rule.action === 'string' ? rule.action : 'block',
      order: typeof rule.order === 'number' ? rule.order : null,
    });
  }
  return [...rules.values()];
}

function readEntries(text: string): unknown[] | string {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  try {
    if (trimmed.startsWith('[')) return JSON.parse(trimmed) as unknown[];
  } catch (error) {
    return `no valid JSON: ${(error as Error).message}`;
  }
  const entries: unknown[] = [];
  for (const [index, line] of trimmed.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      entries.push(JSON.parse(line));
    } catch {
      // A single envelope may span several lines.
      try {
        return [JSON.parse(trimmed)];
      } catch {
        return `line ${index + 1} is no valid JSON`;
      }
    }
  }
  return entries;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
