/** The numbered migrations of a dialect. */
import { readdirSync, readFileSync } from 'node:fs';
import { WeirError } from '../errors.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** Throws REFUSED where a store has not seen every migration: who only reads does not migrate. */
export function requireMigrations(dialect: 'sqlite' | 'postgres', seen: readonly string[]): void {
  if (missingMigrations(dialect, seen).length === 0) return;
  const state = seen.length === 0 ? 'the store is empty' : 'the store was written by an older weir';
  throw new WeirError('REFUSED', `${state}: run weir migrate or start the service`);
}

/** The migrations that a store has not seen, in their order. Throws REFUSED when it has seen one that is not there: a newer weir's. */
export function missingMigrations(dialect: 'sqlite' | 'postgres', seen: readonly string[]): Migration[] {
  const folder = new URL(`./migrations/${dialect}/`, import.meta.url);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const newer = seen.filter((name) => !files.includes(name));
  if (newer.length > 0) throw new WeirError('REFUSED', `the store was written by a newer weir: it has the migration ${newer.join(', ')}`);
  const missing = files.filter((name) => !seen.includes(name));
  return missing.map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
}
