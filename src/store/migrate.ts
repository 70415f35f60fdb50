/** The numbered migrations of a dialect. */
import { readdirSync, readFileSync } from 'node:fs';
import { WeirError } from '../errors.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** Told in a sentence, before it begins, that a store which was there already is brought up to date. */
export type OnMigrate = (sentence: string) => void;

/** What is told of migrations; nothing of those that make a new store. */
export function tellMigrations(onMigrate: OnMigrate | undefined, seen: readonly string[], missing: readonly Migration[]): void {
  if (seen.length > 0 && missing.length > 0)
    onMigrate?.(`the schema of the store is brought up to date: ${span(missing.map(({ name }) => name))}`);
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
  if (newer.length > 0)
    throw new WeirError(
      'REFUSED',
      `the store was written by a newer weir: it has the ${newer.length > 1 ? 'migrations' : 'migration'} ${span(newer.sort())}`,
    );
  const missing = files.filter((name) => !seen.includes(name));
  return missing.map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
}

const span = (names: readonly string[]) => (names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0]);
