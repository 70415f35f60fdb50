/** The columns of the tables of rules, as both dialects have them. */
import { type Kind, RULE_KINDS } from '../../rule.ts';

/** What an access rule is about: this identifies a rule without a rule_ref. */
export const ACCESS_TARGET = ['action', 'v4', 'v6', 'target'];
/** What an upsert of an access rule writes anew besides. */
export const ACCESS_VALUES = ['expires_at', 'levels', 'name', 'reason', 'labels', 'config', 'updated_at', 'seq'];
/** What an upsert of an expression rule writes anew: all but what identifies it, its id and when it was made. */
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

/** A table of rules: where its rows belong to, what finds a row, and all of its columns. */
export interface RuleTable {
  readonly table: string;
  /** Holds rules as they were before a change: the same columns, `changed` and `existed`. */
  readonly before: string;
  readonly place: 'list_pk' | 'workspace_pk';
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

/** The table of a kind. */
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
