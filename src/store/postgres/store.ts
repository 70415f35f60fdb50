import { within } from '../../clock.ts';
import type { Store, StoreReads, StoreWrites } from '../../ports/store.ts';
import { fewAtOnce } from '../../serial.ts';
import { recordDocument } from '../document-record.ts';
import { type OnMigrate, requireMigrations, type SchemaState, schemaState } from '../migrate.ts';
import { sharedWrites } from '../shared-writes.ts';
import { type AtMost, sweep } from '../sweep.ts';
import { noteFeedSize } from '../usage/feed-days.ts';
import type { Transact } from '../work.ts';
import { announcing, commitListener } from './commits.ts';
import { type Database, drive, NOW, openDatabase, type Session } from './database.ts';
import { land, type MostAreNew } from './landing.ts';
import { exclusively, migrateDatabase, seenMigrations } from './migrate.ts';
import { postgresReads } from './reads.ts';

interface Connections {
  readonly reads: number;
  readonly changes: number;
}
const CONNECTIONS: Connections = { reads: 5, changes: 5 };

interface PostgresOptions {
  readonly onMigrate?: OnMigrate | undefined;
  readonly connections?: Connections;
}

const WAITS_FOR_STANDBY = "SELECT wait_event = 'SyncRep' AS waits FROM pg_stat_activity WHERE pid = $1";
/** ms. */
const ASK_LIMIT = 1000;

/** For any number of processes. Applies migrations; rejects with a readable reason. */
export async function openPostgresStore(url: string, { onMigrate, connections = CONNECTIONS }: PostgresOptions = {}): Promise<Store> {
  const db = openDatabase(url, { connections: connections.reads });
  const waitsForStandby = (pid: number) =>
    within(db.one(WAITS_FOR_STANDBY, pid), ASK_LIMIT, 'PostgreSQL').then(
      (row) => row?.waits === true,
      () => false,
    );
  // Separate: reads never wait for changes that wait for a standby (SPEC D37.2).
  const changes = openDatabase(url, { connections: connections.changes, waitsForStandby });
  // Separate: key changes are always noticed.
  const watch = openDatabase(url, { connections: 1 });
  const writes = postgresWrites(announcing(changes), onMigrate);
  const commits = commitListener(url);
  const close = async () => {
    await Promise.all([db.close(), changes.close(), watch.close(), commits.close()]);
  };
  try {
    await writes.migrate();
  } catch (error) {
    await close();
    throw error;
  }
  return { ...sharedOut(writes, connections.changes), ...sharedOut(postgresReads(db, watch, commits.watch), connections.reads), close };
}

/** Share for concurrent calls of one workspace. */
const SHARE = 3 / 4;
/** They pause between connections. */
const OWN_PACE: readonly string[] = ['undoPreview', 'rules'];

/** Limits calls by workspace, their first argument. */
function sharedOut<S extends object>(store: S, connections: number): S {
  const few = fewAtOnce(Math.max(1, Math.floor(connections * SHARE)));
  const fairQueue = ([name, call]: [string, (...args: unknown[]) => Promise<unknown>]) => {
    const shared = (...args: unknown[]) => (typeof args[0] === 'string' ? few(() => call(...args), args[0]) : call(...args));
    return [name, OWN_PACE.includes(name) ? call : shared];
  };
  return Object.fromEntries(Object.entries(store).map(fairQueue)) as S;
}

export async function postgresSchema(url: string): Promise<SchemaState> {
  const db = openDatabase(url);
  try {
    return schemaState('postgres', await seenMigrations(db));
  } finally {
    await db.close();
  }
}

/** REFUSED: no store, or migrations are missing. */
export async function openPostgresReads(url: string): Promise<StoreReads & { close(): Promise<void> }> {
  const db = openDatabase(url);
  try {
    requireMigrations('postgres', await seenMigrations(db));
  } catch (error) {
    await db.close();
    throw error;
  }
  return { ...postgresReads(db, db), close: () => db.close() };
}

function postgresWrites(db: Database, onMigrate?: OnMigrate): StoreWrites {
  const transact: Transact = (work, { alone = false, ...options } = {}) => {
    const driven = (session: Session) => drive(session, work(NOW));
    return alone ? exclusively(db, driven) : db.transaction(driven, options);
  };
  const mostAreNew: MostAreNew = new Map();
  return {
    ...sharedWrites(transact),
    migrate: async () => ({ applied: await migrateDatabase(db, onMigrate) }),
    apply: (batch) => land(db, batch, mostAreNew),
    // Separate statements: locking rows of many workspaces could deadlock with a landing.
    async noteFeedSizes(sizes) {
      for (const size of sizes) await drive(db, noteFeedSize(size));
    },
    recordDocument: (...args) => drive(db, recordDocument(NOW, ...args)),
    // PostgreSQL vacuums itself.
    shrink: async () => false,
    sweep: (limits) => transact(() => sweep(atMost, limits), { repeatable: true }),
  };
}

// Skips locked rows: a sweep neither waits nor deadlocks.
const atMost: AtMost = (table, condition) =>
  `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2 FOR UPDATE SKIP LOCKED))`;
