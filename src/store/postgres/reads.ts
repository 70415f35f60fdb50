import type { Caller } from '../../account/caller.ts';
import { needsLists } from '../../feed/widening.ts';
import { EXCEPTIONS_KEY, type KnownRules, type SnapshotSink } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { gathered } from '../../serial.ts';
import { CALLER } from '../accounts/account-tables.ts';
import { servedSource } from '../accounts/freezes.ts';
import { findNamed, keyOf, type RuleSource, ruleSource } from '../accounts/lists.ts';
import { undoPreview } from '../batches/undo-preview.ts';
import { follow } from '../changes-since.ts';
import { actionCode } from '../columns.ts';
import { callerOf, namedRuleOf, ruleStateOf } from '../rows.ts';
import { withLevels } from '../rules/list-levels.ts';
import { takeRules } from '../rules/rule-pages.ts';
import { senderStep } from '../rules/rule-senders.ts';
import { listPlace } from '../rules/rules-at.ts';
import { sharedReads } from '../shared-reads.ts';
import { type Database, drive, NOW, type Session } from './database.ts';
import { exceptionsQuery, historyQueries, rulesAtQuery, scanInto, scanQuery } from './snapshot.ts';

const UNDO_PACE = { least: 250, most: 1000, long: 200, short: 50 };
/** Also the limit of callers per query. */
const CALLER_QUERIES = 2;
const CALLERS = 1000;
const SENDER_STEPS = 4;

const RULE_STATES = `SELECT r.id, r.action, r.target, r.expires_at FROM access_rules r
  WHERE r.id = ANY($2) AND (SELECT w.id FROM lists l JOIN workspaces w ON w.pk = l.workspace_pk WHERE l.pk = r.list_pk) = $1`;

const OF_LIST = 'list_pk = (SELECT l.pk FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1 AND l.id = $2)';
const BY_TARGET = `${OF_LIST} AND action IN (${ACCESS_ACTIONS.map(actionCode)}) AND target = ANY($4) AND rule_ref`;
const NAMED_RULES = [`${OF_LIST} AND rule_ref = ANY($3)`, `${BY_TARGET} IS NULL`, `${BY_TARGET} IS NOT NULL`]
  .map((condition) => `SELECT id, rule_ref, action, target FROM access_rules WHERE ${condition}`)
  .join(' UNION ');

/** No read waits for a writer's lock. The key revision, read through `watch`, waits for no other call either. */
export function postgresReads(
  db: Database,
  watch: Pick<Database, 'one'>,
  watchCommits: StoreReads['watchCommits'] = () => () => {},
): StoreReads {
  const { rows, one } = db;
  return {
    ...sharedReads(
      (work) => drive(db, work),
      // Dead letters contain any text, even what a text column cannot: stored as JSON.
      { now: NOW, indexedBy: () => '', written: JSON.stringify, read: JSON.parse },
    ),
    // Blocks no thread here, and each step is a round trip.
    undoPreview: (workspaceId, batchId, step) => undoPreview((work) => drive(db, work), step, workspaceId, batchId, UNDO_PACE),
    // Blocks no thread here; without statistics each step sorts the rest of its list.
    senderStep: (workspaceId, feed, step) => drive(db, senderStep(workspaceId, feed, { ...step, limit: step.limit * SENDER_STEPS })),
    ping: async () => Number((await one(`SELECT ${NOW} AS now`))!.now),
    watchCommits,
    keyRevision: async () => Number((await watch.one("SELECT value FROM counters WHERE name = 'key_revision'"))?.value),
    findCaller: gathered((hashes) => findCallers(db, hashes), CALLER_QUERIES, CALLERS),
    findNamed: (workspaceId, ref) => drive(db, findNamed(NOW, workspaceId, ref)),
    async snapshot(workspaceId, feed, now, sink, stored) {
      let begun = false;
      return db.view(
        async (session) => {
          const source = await drive(session, ruleSource(NOW, workspaceId, feed));
          if (source === undefined) return undefined;
          begun = true;
          if (sink !== undefined) await scan(session, source, now, sink);
          if (stored !== undefined) await drive(session, takeRules(source, stored, now));
          return source.head;
        },
        // The sink retains rows.
        () => !begun,
      );
    },
    async rulesAt(workspaceId, listId, seq, sink) {
      const place = await drive(db, listPlace(workspaceId, listId));
      if (place === undefined) return;
      await db.view(
        (session) => session.copy(rulesAtQuery(place.list, seq), scanInto(sink)),
        // The sink retains rows.
        () => false,
      );
    },
    async listHistory(workspaceId, listId, { stored, lost }) {
      const place = await drive(db, listPlace(workspaceId, listId));
      if (place === undefined) return;
      const queries = historyQueries(place.list, place.workspace);
      // The sinks retain rows: no retry.
      await db.view(
        (session) => session.copy(queries.stored, scanInto(stored)),
        () => false,
      );
      await db.view(
        (session) => session.copy(queries.lost, scanInto(lost)),
        () => false,
      );
    },
    async follow(workspaceId, feedId, at, known, sink) {
      // A single statement is consistent; if it is sufficient, as for a list, no transaction is needed.
      const source = known.isNewFeed && feedId !== null ? await drive(db, servedSource(NOW, workspaceId, feedId)) : undefined;
      if (source !== undefined && source.frozen === undefined && isNothingToRead(source, known)) {
        for (const { key } of source.head.lists) if (!known.lists.has(key)) sink.list(key, true);
        return source.head;
      }
      return db.view(
        async (session) => {
          const found = await drive(session, follow(NOW, { workspaceId, feedId, at, known }, sink));
          if (found === undefined || found === 'too_far') return found;
          const onList = (pk: number) => sink.list(keyOf(pk), true);
          const { complete } = found;
          const withoutRules = new Set(found.lists.filter(({ isEmpty }) => isEmpty).map(({ pk }) => pk));
          const [empty, filled] = [complete.filter((pk) => withoutRules.has(pk)), complete.filter((pk) => !withoutRules.has(pk))];
          // The rules of a single list follow without a call.
          for (const pk of [...empty, ...filled]) onList(pk);
          if (filled.length === 1) await session.copy(scanQuery(filled, at), scanInto(sink));
          else if (filled.length > 0) await session.copy(scanQuery(filled, at, true), scanInto(sink, onList));
          if (found.head.profile.subtractAllow === 'workspace' && found.frozen === undefined) {
            sink.list(EXCEPTIONS_KEY, true);
            await session.copy(exceptionsQuery(found.workspacePk, at), scanInto(sink));
          }
          return found.head;
        },
        () => false,
      );
    },
    ruleStates: async (workspaceId, ids) => (await rows(RULE_STATES, workspaceId, ids)).map(ruleStateOf),
    namedRules: async (workspaceId, listId, refs, targets) =>
      (await rows(NAMED_RULES, workspaceId, listId, refs, targets)).map(namedRuleOf),
  };
}

/** A list without rules, and no cached list has changed. */
const isNothingToRead = ({ head, lists }: RuleSource, known: KnownRules): boolean =>
  head.kind === 'list' &&
  head.profile.subtractAllow !== 'workspace' &&
  lists.every(({ isEmpty }) => isEmpty) &&
  (known.lists.size === 0 || known.change === head.change);

async function scan(session: Session, { workspacePk, lists, head }: RuleSource, now: number, sink: SnapshotSink): Promise<void> {
  const apart = needsLists(head) ? sink.list?.bind(sink) : undefined;
  const filled = lists.filter(({ isEmpty }) => !isEmpty);
  for (const group of Map.groupBy(filled, ({ pk, levels }) => (apart === undefined ? levels : `list ${pk}`)).values()) {
    const [{ pk, levels }] = group as [RuleSource['lists'][number]];
    apart?.(keyOf(pk));
    const pks = group.map((list) => list.pk);
    await session.copy(scanQuery(pks, now), scanInto(withLevels(sink, levels)));
  }
  if (head.profile.subtractAllow !== 'workspace') return;
  apart?.(EXCEPTIONS_KEY);
  await session.copy(exceptionsQuery(workspacePk, now), scanInto(sink));
}

/** A flood of unknown keys uses two connections at most. */
async function findCallers(db: Database, hashes: readonly Uint8Array[]): Promise<(Caller | undefined)[]> {
  const found = await db.rows(
    `${CALLER} = ANY($1)`,
    hashes.map((hash) => Buffer.from(hash)),
  );
  const callers = new Map(found.map((row) => [(row.hash as Buffer).toString('hex'), callerOf(row)]));
  return hashes.map((hash) => callers.get(Buffer.from(hash).toString('hex')));
}
