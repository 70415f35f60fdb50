import { levelCode } from '../../feed/levels.ts';
import { type AccessRule, type ExpressionRule, type Kind, RULE_KINDS } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { actionCode, jsonText, packV4, packV6 } from '../columns.ts';
import type { Value } from '../work.ts';

/** Identifies a rule without a rule_ref. */
export const ACCESS_TARGET = ['action', 'v4', 'v6', 'target'];
export const ACCESS_VALUES = ['expires_at', 'levels', 'name', 'reason', 'labels', 'config', 'updated_at', 'seq'];
export const EXPRESSION_VALUES = [
  'name',
  'type',
  'expression',
  'action',
  '"order"',
  'short_description',
  'config',
  'reason',
  'labels',
  'expires_at',
  'updated_at',
  'seq',
];

export interface RuleTable {
  readonly table: string;
  /** Previous versions: the same columns, `changed` and `existed`. */
  readonly before: string;
  readonly place: 'list_pk' | 'workspace_pk';
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

export function ruleTable(kind: Kind): RuleTable {
  const { table, holds } = RULE_KINDS[kind];
  const shared = { table, before: `${table}_before` };
  return holds === 'target'
    ? {
        ...shared,
        place: 'list_pk',
        key: ['list_pk', 'id'],
        columns: ['list_pk', 'id', 'rule_ref', 'created_at', ...ACCESS_TARGET, ...ACCESS_VALUES],
      }
    : {
        ...shared,
        place: 'workspace_pk',
        key: ['workspace_pk', 'rule_ref'],
        columns: ['workspace_pk', 'rule_ref', 'id', 'created_at', ...EXPRESSION_VALUES],
      };
}

interface Written {
  /** List or workspace pk. */
  readonly place: number;
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly seq: number;
}

/** Values in column order. `text`: canonical target, if known. */
export function rowOf(rule: AccessRule | ExpressionRule, written: Written, text?: string): Value[] {
  const { place, id, createdAt, updatedAt, seq } = written;
  const { name, reason, expiresAt } = rule;
  const [labels, config] = [jsonText(rule.labels), jsonText(rule.config)];
  if ('expression' in rule) {
    const { ruleRef, type, expression, action, order, shortDescription } = rule;
    const head = [place, ruleRef, id, createdAt, name, type, expression, action];
    return [...head, order, shortDescription, config, reason, labels, expiresAt, updatedAt, seq];
  }
  const { ruleRef, target } = rule;
  const [action, v4, v6, named] = [actionCode(rule.action), packV4(target), packV6(target), text ?? formatTarget(target)];
  const levels = levelCode(rule.confidence, rule.severity);
  return [place, id, ruleRef, createdAt, action, v4, v6, named, expiresAt, levels, name, reason, labels, config, updatedAt, seq];
}
