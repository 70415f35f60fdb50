import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Caller } from '../../account/caller.ts';
import type { KeyInfo, SavedKey } from '../../account/key.ts';
import type { Organization, Subscription } from '../../account/organization.ts';
import type { Permission } from '../../account/permission.ts';
import type { Workspace } from '../../account/workspace.ts';
import type { DeadLetter, RuleSink, RuleState, SnapshotHead, StoredRule, WorkspaceDirectory } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type ExpressionKind, isExpressionKind, RULE_KINDS } from '../../rule.ts';
import { actionOf, targetOf } from '../columns.ts';
import { findList, listCount, ruleSource } from '../lists.ts';
import { deadLetterOf, keyOf, listOf, organizationOf, ruleOf, savedKeyOf, workspaceOf } from '../rows.ts';
import { ruleCount } from '../rule-counts.ts';
import { activeCount } from '../rule-tables.ts';
import { drive, readTransaction } from './database.ts';

/** Rows fetched at a time: `all()` on a page is twice as fast as `iterate()` and needs no more memory than the page. */
const PAGE = 8192;

const KEYS = 'SELECT * FROM keys WHERE workspace_pk = (SELECT pk FROM workspaces WHERE id = ?) ORDER BY created_at, id';
const RULE_COUNT = activeCount('?', '?');

/** The reads of the embedded store, on a connection of their own; WAL lets them run beside the writer. */
export function sqliteReads(db: DatabaseSync, clock: () => number): StoreReads {
  const prepared = new Map<string, StatementSync>();
  const sql = (text: string, arrays = false): StatementSync => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = db.prepare(text);
      if (arrays) statement.setReturnArrays(true);
      prepared.set(text, statement);
    }
    return statement;
  };
  const one = (text: string, ...args: (string | number | Uint8Array)[]) => sql(text).get(...args);
  const all = (text: string, ...args: (string | number)[]) => sql(text).all(...args);

  const source = (workspaceId: string, listId: string | null) => drive(db, ruleSource(String(clock()), workspaceId, listId));

  function directory(workspaceId: string): WorkspaceDirectory | undefined {
    const workspace = one('SELECT pk, id, name, revision FROM workspaces WHERE id = ?', workspaceId);
    if (workspace === undefined) return undefined;
    const rows = all('SELECT * FROM lists WHERE workspace_pk = ? ORDER BY pk', Number(workspace.pk));
    return {
      id: workspaceId,
      name: String(workspace.name),
      revision: Number(workspace.revision),
      takenAt: clock(),
      lists: rows.map((row) => listOf(row, workspaceId)),
    };
  }

  function scanList(listPk: number, now: number, sink: RuleSink): void {
    const page = sql(
      `SELECT id, action, v4, v6, expires_at, levels, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END FROM access_rules
       WHERE list_pk = ? AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ${PAGE}`,
      true,
    );
    for (let after = -1; ; ) {
      const rows = page.all(listPk, after, now) as unknown as [
        number,
        number,
        number | null,
        Uint8Array | null,
        number | null,
        number,
        string | null,
      ][];
      for (const [id, action, v4, v6, expiresAt, levels, target] of rows) {
        const expires = expiresAt === null ? 0 : Math.ceil(expiresAt / 1000);
        if (v4 !== null) sink.v4(id, actionOf(action), Math.floor(v4 / 64), v4 % 64, expires, levels);
        else if (v6 !== null) sink.v6(id, actionOf(action), v6, 0, v6[16], expires, levels);
        else {
          const parsed = targetOf(String(target));
          if (parsed.kind !== 'ip') sink.geo(id, actionOf(action), parsed, expires, levels);
        }
      }
      if (rows.length < PAGE) return;
      after = rows[rows.length - 1][0];
    }
  }

  return {
    async ping() {
      one('SELECT 1 FROM counters LIMIT 1');
      return clock();
    },
    async keyRevision() {
      return Number(one("SELECT value FROM counters WHERE name = 'key_revision'")?.value);
    },
    async findCaller(hash): Promise<Caller | undefined> {
      const row = one(
        `SELECT keys.id, keys.list_id, keys.permissions, keys.expires_at, w.id AS workspace_id, o.id AS organization_id, o.subscription
         FROM keys JOIN workspaces w ON w.pk = keys.workspace_pk JOIN organizations o ON o.pk = w.organization_pk
         WHERE keys.hash = ? AND keys.revoked_at IS NULL`,
        hash,
      );
      if (row === undefined) return undefined;
      return {
        keyId: String(row.id),
        workspaceId: String(row.workspace_id),
        organizationId: String(row.organization_id),
        subscription: row.subscription as Subscription,
        permissions: String(row.permissions).split(' ') as Permission[],
        listId: row.list_id === null ? null : String(row.list_id),
        expiresAt: row.expires_at === null ? null : Number(row.expires_at),
      };
    },
    async directory(workspaceId) {
      return readTransaction(db, () => directory(workspaceId));
    },
    async findList(workspaceId, ref) {
      return readTransaction(db, () => drive(db, findList(String(clock()), workspaceId, ref)));
    },
    async listCount(workspaceId) {
      return drive(db, listCount(workspaceId));
    },
    async snapshot(workspaceId, listId, now, sink): Promise<SnapshotHead | undefined> {
      return readTransaction(db, () => {
        const found = source(workspaceId, listId);
        if (found === undefined) return undefined;
        const { workspaceName, list, revision, lists } = found;
        for (const { pk } of lists) scanList(pk, now, sink);
        return { workspaceName, list, revision, takenAt: now };
      });
    },
    async ruleStates(workspaceId, ids): Promise<RuleState[]> {
      const rows = all(
        `SELECT r.id, r.action, r.target, r.expires_at FROM json_each(?) wanted CROSS JOIN access_rules r ON r.id = wanted.value
         WHERE (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = ?`,
        JSON.stringify(ids),
        workspaceId,
      );
      return rows.map((row) => ({
        id: Number(row.id),
        action: actionOf(row.action),
        target: targetOf(String(row.target)),
        expires: row.expires_at === null ? 0 : Math.ceil(Number(row.expires_at) / 1000),
      }));
    },
    async position(streamId, partition) {
      const row = one('SELECT next_offset FROM positions WHERE stream_id = ? AND "partition" = ?', streamId, partition);
      return row === undefined ? undefined : Number(row.next_offset);
    },
    async positionStreams() {
      return all('SELECT DISTINCT stream_id FROM positions').map((row) => String(row.stream_id));
    },
    async organizations(): Promise<Organization[]> {
      return all('SELECT * FROM organizations ORDER BY pk').map(organizationOf);
    },
    async workspaces(): Promise<Workspace[]> {
      return all(
        'SELECT w.*, o.id AS organization_id FROM workspaces w JOIN organizations o ON o.pk = w.organization_pk ORDER BY w.pk',
      ).map(workspaceOf);
    },
    async keys(workspaceId): Promise<KeyInfo[]> {
      return all(KEYS, workspaceId).map((row) => keyOf(row, workspaceId));
    },
    async savedKeys(workspaceId): Promise<SavedKey[]> {
      return all(KEYS, workspaceId).map(savedKeyOf);
    },
    async ruleCount(workspaceId) {
      return drive(db, ruleCount(workspaceId));
    },
    async countRules(workspaceId, now) {
      return Number(one(RULE_COUNT, now, workspaceId)?.rules ?? 0);
    },
    async *rules(workspaceId, { listId, kind, now }): AsyncIterable<StoredRule> {
      const found = source(workspaceId, isExpressionKind(kind) ? null : (listId ?? null));
      if (found === undefined) return;
      if (isExpressionKind(kind)) yield* expressionRules(kind, found.workspacePk, now);
      else for (const { pk, id } of found.lists) yield* accessRules(pk, id, now);
    },
    async deadLetters(limit): Promise<DeadLetter[]> {
      return all('SELECT * FROM (SELECT * FROM dead_letters ORDER BY id DESC LIMIT ?) ORDER BY id', limit).map(deadLetterOf);
    },
    async deadLetter(id) {
      const row = one('SELECT * FROM dead_letters WHERE id = ?', id);
      return row && deadLetterOf(row);
    },
  };

  function* accessRules(listPk: number, listId: string, now: number): Iterable<StoredRule> {
    for (let after = -1; ; ) {
      const rows = all(
        'SELECT * FROM access_rules WHERE list_pk = ? AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT 1000',
        listPk,
        after,
        now,
      );
      for (const row of rows) yield ruleOf('access_rule', { ...row, list_id: listId });
      if (rows.length < 1000) return;
      after = Number(rows[rows.length - 1].id);
    }
  }

  function* expressionRules(kind: ExpressionKind, workspacePk: number, now: number): Iterable<StoredRule> {
    for (let after = ''; ; ) {
      const rows = all(
        `SELECT * FROM ${RULE_KINDS[kind].table} WHERE workspace_pk = ? AND rule_ref > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY rule_ref LIMIT 1000`,
        workspacePk,
        after,
        now,
      );
      for (const row of rows) yield ruleOf(kind, row);
      if (rows.length < 1000) return;
      after = String(rows[rows.length - 1].rule_ref);
    }
  }
}
