import type { Caller } from '../../account/caller.ts';
import type { Subscription } from '../../account/organization.ts';
import type { Permission } from '../../account/permission.ts';
import type { RuleState, SnapshotHead, StoredRule, WorkspaceDirectory } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type ExpressionKind, isExpressionKind, RULE_KINDS } from '../../rule.ts';
import { actionOf, targetOf } from '../columns.ts';
import { findList, listCount, ruleSource } from '../lists.ts';
import { deadLetterOf, keyOf, listOf, organizationOf, type Row, ruleOf, savedKeyOf, workspaceOf } from '../rows.ts';
import { ruleCount } from '../rule-counts.ts';
import { activeCount } from '../rule-tables.ts';
import { NOW } from './clock.ts';
import { type Database, drive } from './database.ts';
import { gathered } from './gather.ts';
import { scanInto, scanQuery } from './snapshot.ts';

/** Queries for callers that run at a time, and callers that one of them asks for at most. */
const CALLER_QUERIES = 2;
const CALLERS = 1000;

/** Rules fetched at a time where every column is wanted. */
const PAGE = 1000;

const DIRECTORY = `SELECT w.name AS workspace_name, w.revision AS workspace_revision, ${NOW} AS taken_at, l.*
  FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1 ORDER BY l.pk`;

const KEYS = 'SELECT * FROM keys WHERE workspace_pk = (SELECT pk FROM workspaces WHERE id = $1) ORDER BY created_at, id';
const RULE_COUNT = activeCount('$1', '$2');

/** The reads of the PostgreSQL store. None of them waits for a lock of a writer; those through `watch` for no other call either. */
export function postgresReads(db: Database, watch: Pick<Database, 'one'>): StoreReads {
  const { rows, one } = db;

  return {
    async ping() {
      return Number((await watch.one(`SELECT ${NOW} AS now`))!.now);
    },
    async keyRevision() {
      return Number((await watch.one("SELECT value FROM counters WHERE name = 'key_revision'"))?.value);
    },
    findCaller: gathered(findCallers, CALLER_QUERIES, CALLERS),
    async directory(workspaceId) {
      return directoryOf(workspaceId, await rows(DIRECTORY, workspaceId));
    },
    findList: (workspaceId, ref) => drive(db, findList(NOW, workspaceId, ref)),
    listCount: (workspaceId) => drive(db, listCount(workspaceId)),
    async snapshot(workspaceId, listId, now, sink): Promise<SnapshotHead | undefined> {
      let begun = false;
      return db.view(
        async (session) => {
          const source = await drive(session, ruleSource(NOW, workspaceId, listId));
          if (source === undefined) return undefined;
          const { workspaceName, list, revision, takenAt, lists } = source;
          begun = true;
          const pks = lists.map(({ pk }) => pk);
          await session.copy(scanQuery(pks, now), scanInto(sink));
          return { workspaceName, list, revision, takenAt };
        },
        // The sink keeps what it was given.
        () => !begun,
      );
    },
    async ruleStates(workspaceId, ids): Promise<RuleState[]> {
      const states = await rows(
        `SELECT r.id, r.action, r.target, r.expires_at FROM access_rules r
         WHERE r.id = ANY($2) AND (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = $1`,
        workspaceId,
        ids,
      );
      return states.map((row) => ({
        id: Number(row.id),
        action: actionOf(row.action),
        target: targetOf(String(row.target)),
        expires: row.expires_at === null ? 0 : Math.ceil(Number(row.expires_at) / 1000),
      }));
    },
    async position(streamId, partition) {
      const row = await one('SELECT next_offset FROM positions WHERE stream_id = $1 AND "partition" = $2', streamId, partition);
      return row && Number(row.next_offset);
    },
    async positionStreams() {
      return (await rows('SELECT DISTINCT stream_id FROM positions')).map((row) => String(row.stream_id));
    },
    async organizations() {
      return (await rows('SELECT * FROM organizations ORDER BY pk')).map(organizationOf);
    },
    async workspaces() {
      const all = await rows(
        'SELECT w.*, o.id AS organization_id FROM workspaces w JOIN organizations o ON o.pk = w.organization_pk ORDER BY w.pk',
      );
      return all.map(workspaceOf);
    },
    async keys(workspaceId) {
      return (await rows(KEYS, workspaceId)).map((row) => keyOf(row, workspaceId));
    },
    async savedKeys(workspaceId) {
      return (await rows(KEYS, workspaceId)).map(savedKeyOf);
    },
    ruleCount: (workspaceId) => drive(db, ruleCount(workspaceId)),
    async countRules(workspaceId, now) {
      return Number((await one(RULE_COUNT, now, workspaceId))?.rules ?? 0);
    },
    async *rules(workspaceId, { listId, kind, now }): AsyncIterable<StoredRule> {
      const source = await drive(db, ruleSource(NOW, workspaceId, isExpressionKind(kind) ? null : (listId ?? null)));
      if (source === undefined) return;
      if (isExpressionKind(kind)) yield* expressionRules(kind, source.workspacePk, now);
      else for (const { pk, id } of source.lists) yield* accessRules(pk, id, now);
    },
    async deadLetters(limit) {
      const newest = await rows('SELECT * FROM (SELECT * FROM dead_letters ORDER BY id DESC LIMIT $1) newest ORDER BY id', limit);
      return newest.map(letterOf);
    },
    async deadLetter(id) {
      const row = await one('SELECT * FROM dead_letters WHERE id = $1', id);
      return row && letterOf(row);
    },
  };

  /** The caller behind each hash. A flood of unknown keys takes two connections at most. */
  async function findCallers(hashes: readonly Uint8Array[]): Promise<(Caller | undefined)[]> {
    const found = await rows(
      `SELECT keys.hash, keys.id, keys.list_id, keys.permissions, keys.expires_at, w.id AS workspace_id, o.id AS organization_id, o.subscription
       FROM keys JOIN workspaces w ON w.pk = keys.workspace_pk JOIN organizations o ON o.pk = w.organization_pk
       WHERE keys.hash = ANY($1) AND keys.revoked_at IS NULL`,
      hashes.map((hash) => Buffer.from(hash)),
    );
    const callers = new Map(found.map((row) => [(row.hash as Buffer).toString('hex'), callerOf(row)]));
    return hashes.map((hash) => callers.get(Buffer.from(hash).toString('hex')));
  }

  async function* accessRules(listPk: number, listId: string, now: number): AsyncIterable<StoredRule> {
    const page = (after: unknown) =>
      rows(
        `SELECT * FROM access_rules WHERE list_pk = $1 AND id > $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY id LIMIT ${PAGE}`,
        listPk,
        Number(after),
        now,
      );
    for await (const row of pages(page, -1, 'id')) yield ruleOf('access_rule', { ...row, list_id: listId });
  }

  async function* expressionRules(kind: ExpressionKind, workspacePk: number, now: number): AsyncIterable<StoredRule> {
    const page = (after: unknown) =>
      rows(
        `SELECT * FROM ${RULE_KINDS[kind].table} WHERE workspace_pk = $1 AND rule_ref > $2 AND (expires_at IS NULL OR expires_at > $3)
         ORDER BY rule_ref LIMIT ${PAGE}`,
        workspacePk,
        String(after),
        now,
      );
    for await (const row of pages(page, '', 'rule_ref')) yield ruleOf(kind, row);
  }
}

/** Rows page by page: the next one begins after the last row's `key`. */
async function* pages(page: (after: unknown) => Promise<Row[]>, first: unknown, key: string): AsyncIterable<Row> {
  for (let after = first; ; ) {
    const rows = await page(after);
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows[rows.length - 1][key];
  }
}

/** A workspace from the rows of DIRECTORY; every workspace has a list. */
function directoryOf(workspaceId: string, rows: readonly Row[]): WorkspaceDirectory | undefined {
  if (rows.length === 0) return undefined;
  const [{ workspace_name, workspace_revision, taken_at }] = rows;
  return {
    id: workspaceId,
    name: String(workspace_name),
    revision: Number(workspace_revision),
    takenAt: Number(taken_at),
    lists: rows.map((row) => listOf(row, workspaceId)),
  };
}

const callerOf = (row: Row): Caller => ({
  keyId: String(row.id),
  workspaceId: String(row.workspace_id),
  organizationId: String(row.organization_id),
  subscription: row.subscription as Subscription,
  permissions: String(row.permissions).split(' ') as Permission[],
  listId: row.list_id === null ? null : String(row.list_id),
  expiresAt: row.expires_at === null ? null : Number(row.expires_at),
});

const letterOf = (row: Row) => deadLetterOf({ ...row, key: JSON.parse(String(row.key)), value: JSON.parse(String(row.value)) });
