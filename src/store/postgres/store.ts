import { within } from '../../clock.ts';
import type { Store, StoreReads } from '../../ports/store.ts';
import { fewAtOnce } from '../../serial.ts';
import { type OnMigrate, requireMigrations, type SchemaState, schemaState } from '../migrate.ts';
import { openDatabase } from './database.ts';
import { seenMigrations } from './migrate.ts';
import { postgresReads } from './reads.ts';
import { postgresWrites } from './writes.ts';

/** Connections at most, for reads and for changes. */
interface Connections {
  readonly reads: number;
  readonly changes: number;
}
const CONNECTIONS: Connections = { reads: 5, changes: 5 };

export interface PostgresOptions {
  readonly onMigrate?: OnMigrate | undefined;
  readonly connections?: Connections;
}

const WAITS_FOR_STANDBY = "SELECT wait_event = 'SyncRep' AS waits FROM pg_stat_activity WHERE pid = $1";
/** How long the answer to that may take, ms. */
const ASK_LIMIT = 1000;

/**
 * The store on PostgreSQL (14 or newer) behind a `postgres://` address, for any number of processes. Applies the migrations;
 * rejects with a readable reason when the server does not answer or refuses.
 */
export async function openPostgresStore(url: string, { onMigrate, connections = CONNECTIONS }: PostgresOptions = {}): Promise<Store> {
  const db = openDatabase(url, { connections: connections.reads });
  const waitsForStandby = (pid: number) =>
    within(db.one(WAITS_FOR_STANDBY, pid), ASK_LIMIT, 'PostgreSQL').then(
      (row) => row?.waits === true,
      () => false,
    );
  // Reads wait for no change, however many wait for a standby (SPEC D37.2).
  const changes = openDatabase(url, { connections: connections.changes, waitsForStandby });
  // Whatever takes the other connections, a change of a key is noticed.
  const watch = openDatabase(url, { connections: 1 });
  const writes = postgresWrites(changes, onMigrate);
  const close = async () => {
    await Promise.all([db.close(), changes.close(), watch.close()]);
  };
  try {
    await writes.migrate();
  } catch (error) {
    await close();
    throw error;
  }
  return { ...sharedOut(writes, connections.changes), ...sharedOut(postgresReads(db, watch), connections.reads), close };
}

/** What of the connections calls for the same workspace have at a time: hundreds of them leave some for the others. */
const SHARE = 3 / 4;
/** A preview has pauses of its own, in which it has no connection, and rules come page by page. */
const OWN_PACE: readonly string[] = ['undoPreview', 'rules'];

/** A store whose calls for one workspace, the first that each is given, wait for each other where there are many. */
function sharedOut<S extends object>(store: S, connections: number): S {
  const few = fewAtOnce(Math.max(1, Math.floor(connections * SHARE)));
  const fairQueue = ([name, call]: [string, (...args: unknown[]) => Promise<unknown>]) => {
    const shared = (...args: unknown[]) => (typeof args[0] === 'string' ? few(() => call(...args), args[0]) : call(...args));
    return [name, OWN_PACE.includes(name) ? call : shared];
  };
  return Object.fromEntries(Object.entries(store).map(fairQueue)) as S;
}

/** The schema of the store, which is neither made nor changed. */
export async function postgresSchema(url: string): Promise<SchemaState> {
  const db = openDatabase(url);
  try {
    return schemaState('postgres', await seenMigrations(db));
  } finally {
    await db.close();
  }
}

/** The reads alone, for a process that must not change anything. Rejects with REFUSED where there is no store, or one to be migrated. */
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
