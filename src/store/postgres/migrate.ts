import { WeirError } from '../../errors.ts';
import { missingMigrations, type OnMigrate, reportMigrations } from '../migrate.ts';
import { type Database, NOW, type Session } from './database.ts';

/** Advisory lock for migrations and the first key: "weir". */
const LOCK = 0x77656972;
/** Migrations of large tables take long, ms. */
const LIMIT = 600_000;
const OLDEST = 14;

/** One transaction at a time across all processes. */
export const exclusively = <T>(db: Database, work: (session: Session) => Promise<T>): Promise<T> =>
  db.transaction(
    async (session) => {
      await session.run('SELECT pg_advisory_xact_lock($1)', LOCK);
      return work(session);
    },
    { repeatable: true, limit: LIMIT },
  );

/** Applies all missing migrations or none, after calling `onMigrate`; returns their names. */
export function migrateDatabase(db: Database, onMigrate?: OnMigrate): Promise<string[]> {
  return exclusively(db, async (session) => {
    await checkServer(session);
    // Not IF NOT EXISTS, which requires the right to create tables even if nothing is created.
    if ((await session.one("SELECT to_regclass('migrations') AS found"))?.found === null)
      await session.run('CREATE TABLE migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)');
    const seen = (await session.run('SELECT name FROM migrations ORDER BY name')).rows.map((row) => String(row.name));
    const missing = missingMigrations('postgres', seen);
    reportMigrations(onMigrate, seen, missing);
    for (const { name, text } of missing) {
      await session.script(text);
      await session.run(`INSERT INTO migrations VALUES ($1, ${NOW})`, name);
    }
    return missing.map(({ name }) => name);
  });
}

export async function seenMigrations(db: Database): Promise<string[]> {
  const isEmpty = (await db.one("SELECT to_regclass('migrations') AS found"))?.found === null;
  return isEmpty ? [] : (await db.rows('SELECT name FROM migrations')).map((row) => String(row.name));
}

async function checkServer(session: Session): Promise<void> {
  const server = await session.one(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
  );
  const version = Math.floor(Number(server?.version) / 10_000);
  if (version < OLDEST) throw new WeirError('REFUSED', `PostgreSQL ${version} is too old: ${OLDEST} or newer is needed`);
  if (server?.encoding !== 'UTF8') throw new WeirError('REFUSED', `the database's encoding is ${server?.encoding}: UTF8 is needed`);
}
