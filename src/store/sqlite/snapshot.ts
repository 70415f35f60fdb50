import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RuleSink } from '../../ports/snapshot.ts';
import { actionCode, EXCEPTION, roleOf, targetOf } from '../columns.ts';
import { lostRows, storedRows } from '../rules/list-history.ts';
import { rulesAtRows } from '../rules/rules-at.ts';

/**
 * Hands each row to the scan's sink from within the statement: no row of a large list becomes an object, and the scan leaves no
 * garbage. The third argument is the network or the target, whichever the rule has.
 */
const take = (role: string | number) => `count(take_rule(r.id, ${role}, coalesce(r.v4, r.v6, r.target), r.expires_at, r.levels))`;
const ACTIVE = '(r.expires_at IS NULL OR r.expires_at > ?2)';

/** The rules of a list that are active at an instant. */
const SCAN_LIST = `SELECT ${take('r.action')} FROM access_rules r WHERE r.list_pk = ?1 AND ${ACTIVE}`;

/** The indexes that have never-block rules apart from the others; the planner would read all rules of each list. */
const BY_ACTION = { access_rules_value: 'NULL', access_rules_ref_value: 'NOT NULL' };

/** The never-block rules of a workspace that are active at an instant, as exceptions. */
const SCAN_EXCEPTIONS = Object.entries(BY_ACTION)
  .map(
    ([index, ref]) => `SELECT ${take(EXCEPTION)} FROM lists l
  CROSS JOIN access_rules r INDEXED BY ${index} ON r.list_pk = l.pk AND r.action = ${actionCode('allow')} AND r.rule_ref IS ${ref}
  WHERE l.workspace_pk = ?1 AND ${ACTIVE}`,
  )
  .join(' UNION ALL ');

/** The rules of a list with since when they are there; those that it lost. */
const SCAN_STORED = `SELECT ${take('r.action')} FROM (${storedRows('?1')}) AS r`;
const SCAN_LOST = `SELECT ${take('r.action')} FROM (${lostRows('?1', '?2')}) AS r`;

/** The rules of a list as they were behind a change. */
const SCAN_AT = `SELECT ${take('r.action')} FROM (${rulesAtRows('?1', '?2')}) AS r`;

/** The scans of a connection, which `prepare` prepares statements for: they hand rules to a sink as a feed needs them. */
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
    /** The rules of a list that are active at `now` (ms). */
    list: (listPk: number, now: number, into: RuleSink) => scan(SCAN_LIST, into, listPk, now),
    /** The never-block rules of a workspace that are active at `now` (ms), as exceptions. */
    exceptions: (workspacePk: number, now: number, into: RuleSink) => scan(SCAN_EXCEPTIONS, into, workspacePk, now),
    /** `rulesAt` of the port. */
    at: (listPk: number, seq: number, into: RuleSink) => scan(SCAN_AT, into, listPk, seq),
    /** `listHistory` of the port. */
    history(listPk: number, workspacePk: number, { stored, lost }: { readonly stored: RuleSink; readonly lost: RuleSink }) {
      scan(SCAN_STORED, stored, listPk);
      scan(SCAN_LOST, lost, listPk, workspacePk);
    },
  };
}
