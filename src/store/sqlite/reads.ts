import type { DatabaseSync } from 'node:sqlite';
import { needsLists } from '../../feed/widening.ts';
import { EXCEPTIONS_KEY } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { CALLER } from '../accounts/account-tables.ts';
import { findNamed, keyOf, ruleSource } from '../accounts/lists.ts';
import { follow } from '../changes-since.ts';
import { actionCode } from '../columns.ts';
import { callerOf, namedRuleOf, type Row, ruleStateOf } from '../rows.ts';
import { withLevels } from '../rules/list-levels.ts';
import { takeRules } from '../rules/rule-pages.ts';
import { listPlace } from '../rules/rules-at.ts';
import { sharedReads } from '../shared-reads.ts';
import type { Value } from '../work.ts';
import { drive, prepared, readTransaction, storeClock } from './database.ts';
import { ruleScans } from './snapshot.ts';

const RULE_STATES = `SELECT r.id, r.action, r.target, r.expires_at FROM json_each(?) wanted CROSS JOIN access_rules r ON r.id = wanted.value
  WHERE (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = ?`;

const OF_LIST = `r.list_pk = (SELECT l.pk FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = ?1 AND l.id = ?2)`;
const BY_TARGET = `${OF_LIST} AND r.action IN (${ACCESS_ACTIONS.map(actionCode)}) AND r.target = wanted.value AND r.rule_ref`;
const NAMED_RULES = [
  ['?3', 'access_rules_ref', `${OF_LIST} AND r.rule_ref = wanted.value`],
  ['?4', 'access_rules_value', `${BY_TARGET} IS NULL`],
  ['?4', 'access_rules_ref_value', `${BY_TARGET} IS NOT NULL`],
]
  .map(
    ([wanted, index, condition]) =>
      `SELECT r.id, r.rule_ref, r.action, r.target FROM json_each(${wanted}) wanted CROSS JOIN access_rules r INDEXED BY ${index} ON ${condition}`,
  )
  .join(' UNION ');

/** Interval of looking for commits, ms: that of `decisions/serve/waiting.ts`, whose timers then share a wake-up of the process. */
const LOOK = 50;

/** On its own connection, concurrently with the writer (WAL). */
export function sqliteReads(db: DatabaseSync, clock: () => number): StoreReads {
  const prepare = (text: string) => prepared(db, text);
  const one = (text: string, ...args: Value[]): Row | undefined => prepare(text).get(...args);
  const all = (text: string, ...args: Value[]): Row[] => prepare(text).all(...args);
  const now = storeClock(db, clock);
  const scans = ruleScans(db, prepare);

  return {
    ...sharedReads(async (work) => drive(db, work), {
      now,
      indexedBy: (index) => `INDEXED BY ${index}`,
      written: (text) => text,
      read: (text) => text,
    }),
    async ping() {
      one('SELECT 1 FROM counters LIMIT 1');
      return clock();
    },
    watchCommits(onCommit) {
      const version = () => {
        try {
          return one('PRAGMA data_version')?.data_version;
        } catch {
          // The reads that follow report it.
          return undefined;
        }
      };
      let seen = version();
      const timer = setInterval(() => {
        const found = version();
        if (found !== undefined && found === seen) return;
        seen = found;
        onCommit();
      }, LOOK).unref();
      return () => clearInterval(timer);
    },
    keyRevision: async () => Number(one("SELECT value FROM counters WHERE name = 'key_revision'")?.value),
    async findCaller(hash) {
      const row = one(`${CALLER} = ?`, hash);
      return row && callerOf(row);
    },
    findNamed: async (workspaceId, ref) => readTransaction(db, () => drive(db, findNamed(now, workspaceId, ref))),
    async snapshot(workspaceId, feed, at, sink, stored) {
      return readTransaction(db, () => {
        const found = drive(db, ruleSource(now, workspaceId, feed));
        if (found === undefined) return undefined;
        if (sink !== undefined) {
          const apart = needsLists(found.head) ? sink.list?.bind(sink) : undefined;
          for (const { pk, levels } of found.lists) {
            apart?.(keyOf(pk));
            scans.list(pk, at, withLevels(sink, levels));
          }
          if (found.head.profile.subtractAllow === 'workspace') {
            apart?.(EXCEPTIONS_KEY);
            scans.exceptions(found.workspacePk, at, sink);
          }
        }
        if (stored !== undefined) drive(db, takeRules(found, stored, at));
        return found.head;
      });
    },
    async rulesAt(workspaceId, listId, seq, sink) {
      const place = drive(db, listPlace(workspaceId, listId));
      if (place !== undefined) scans.at(place.list, seq, sink);
    },
    async listHistory(workspaceId, listId, sinks) {
      readTransaction(db, () => {
        const place = drive(db, listPlace(workspaceId, listId));
        if (place !== undefined) scans.history(place.list, place.workspace, sinks);
      });
    },
    async follow(workspaceId, feedId, at, known, sink) {
      return readTransaction(db, () => {
        const found = drive(db, follow(now, { workspaceId, feedId, at, known }, sink));
        if (found === undefined || found === 'too_far') return found;
        for (const pk of found.complete) {
          sink.list(keyOf(pk), true);
          scans.list(pk, at, sink);
        }
        if (found.head.profile.subtractAllow === 'workspace' && found.frozen === undefined) {
          sink.list(EXCEPTIONS_KEY, true);
          scans.exceptions(found.workspacePk, at, sink);
        }
        return found.head;
      });
    },
    ruleStates: async (workspaceId, ids) => all(RULE_STATES, JSON.stringify(ids), workspaceId).map(ruleStateOf),
    namedRules: async (workspaceId, listId, refs, targets) =>
      all(NAMED_RULES, workspaceId, listId, JSON.stringify(refs), JSON.stringify(targets)).map(namedRuleOf),
  };
}
