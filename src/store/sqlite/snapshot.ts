import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RuleSink } from '../../ports/snapshot.ts';
import { actionCode, EXCEPTION, roleOf, targetOf } from '../columns.ts';
import { lostRows, rulesAtRows, storedRows } from '../rules/rules-at.ts';

/** Passes rows to the sink from within the statement, without an object per row. The third argument is the network or the target. */
const take = (role: string | number) => `count(take_rule(r.id, ${role}, coalesce(r.v4, r.v6, r.target), r.expires_at, r.levels))`;
const ACTIVE = '(r.expires_at IS NULL OR r.expires_at > ?2)';

const SCAN_LIST = `SELECT ${take('r.action')} FROM access_rules r WHERE r.list_pk = ?1 AND ${ACTIVE}`;

/** Indexes by action; the planner would read all rules of each list. */
const BY_ACTION = { access_rules_value: 'NULL', access_rules_ref_value: 'NOT NULL' };

/** Never-block rules as exceptions. */
const SCAN_EXCEPTIONS = Object.entries(BY_ACTION)
  .map(
    ([index, ref]) => `SELECT ${take(EXCEPTION)} FROM lists l
  CROSS JOIN access_rules r INDEXED BY ${index} ON r.list_pk = l.pk AND r.action = ${actionCode('allow')} AND r.rule_ref IS ${ref}
  WHERE l.workspace_pk = ?1 AND ${ACTIVE}`,
  )
  .join(' UNION ALL ');

/** Current rules with their start; previous rules. */
const SCAN_STORED = `SELECT ${take('r.action')} FROM (${storedRows('?1')}) AS r`;
const SCAN_LOST = `SELECT ${take('r.action')} FROM (${lostRows('?1', '?2')}) AS r`;

const SCAN_AT = `SELECT ${take('r.action')} FROM (${rulesAtRows('?1', '?2')}) AS r`;

export function ruleScans(db: DatabaseSync, prepare: (text: string) => StatementSync) {
  let sink: RuleSink | undefined;
  const takeRule = (id: number, role: number, network: number | Uint8Array | string, expiresAt: number | null, levels: number) => {
    const expires = expiresAt === null ? 0 : Math.ceil(expiresAt / 1000);
    if (typeof network === 'number') sink!.v4(id, roleOf(role), Math.floor(network / 64), network % 64, expires, levels);
    else if (typeof network !== 'string') sink!.v6(id, roleOf(role), network, 0, network[16], expires, levels);
    else {
      const target = targetOf(network);
      if (target.kind !== 'ip') sink!.geo(id, roleOf(role), target, expires, levels);
    }
    return null;
  };
  db.function('take_rule', { directOnly: true }, takeRule as (...args: unknown[]) => null);
  const scan = (text: string, into: RuleSink, ...values: number[]) => {
    sink = into;
    try {
      prepare(text).all(...values);
    } finally {
      sink = undefined;
    }
  };
  return {
    list: (listPk: number, now: number, into: RuleSink) => scan(SCAN_LIST, into, listPk, now),
    exceptions: (workspacePk: number, now: number, into: RuleSink) => scan(SCAN_EXCEPTIONS, into, workspacePk, now),
    at: (listPk: number, seq: number, into: RuleSink) => scan(SCAN_AT, into, listPk, seq),
    history(listPk: number, workspacePk: number, { stored, lost }: { readonly stored: RuleSink; readonly lost: RuleSink }) {
      scan(SCAN_STORED, stored, listPk);
      scan(SCAN_LOST, lost, listPk, workspacePk);
    },
  };
}
