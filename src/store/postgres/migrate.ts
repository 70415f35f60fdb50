import { readdirSync, readFileSync } from 'node:fs';
import { WeirError } from '../../errors.ts';
import { NOW } from './clock.ts';
import type { Database, Session } from './database.ts';

const MIGRATIONS = new URL('../migrations/postgres/', import.meta.url);
/** Names the advisory lock under which one process at a time changes the schema or makes the first key: "weir". */
const LOCK = 0x77656972;
/** A migration of a large table takes its time, ms. */
const LIMIT = 600_000;
const OLDEST = 14;

/** One transaction that waits for every other process that migrates or bootstraps, and keeps them waiting. */
export function exclusively<T>(db: Database, work: (session: Session) => Promise<T>): Promise<T> {
  return db.transaction(
    async (session) => {
      await session.run('SELECT pg_advisory_xact_lock($1)', LOCK);
      return work(session);
    },
    { repeatable: true, limit: LIMIT },
  );
}

/** Applies the numbered migrations that the database has not seen, all of them or none; returns their names. */
export function migrateDatabase(db: Database): Promise<string[]> {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return exclusively(db, async (session) => {
    await checkServer(session);
    // Not IF NOT EXISTS, which asks for the right to create tables even when there is nothing to create.
    if ((await session.one("SELECT to_regclass('migrations') AS found"))?.found === null)
      await session.run('CREATE TABLE migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)');
    const known = (await session.run('SELECT name FROM migrations ORDER BY name')).rows.map((row) => String(row.name));
    const newer = known.filter((name) => !files.includes(name));
    if (newer.length > 0) throw new WeirError('REFUSED', `the store was written by a newer weir: it has the migration ${newer.join(', ')}`);
    const missing = files.filter((name) => !known.includes(name));
    for (const name of missing) {
      await session.script(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
      await session.run(`INSERT INTO migrations VALUES ($1, ${NOW})`, name);
    }
    return missing;
  });
}

async function checkServer(session: Session): Promise<void> {
  const server = await session.one(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
  );
  const version = Math.floor(Number(server?.version) / 10_000);
  if (version < OLDEST) throw new WeirError('REFUSED', `PostgreSQL ${version} is too old: ${OLDEST} or newer is needed`);
  if (server?.encoding !== 'UTF8') throw new WeirError('REFUSED', `the database's encoding is ${server?.encoding}: UTF8 is needed`);
}
