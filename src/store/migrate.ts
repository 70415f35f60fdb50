import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { WeirError } from '../errors.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** Called before an existing store is migrated. */
export type OnMigrate = (sentence: string) => void;

/** Reports nothing for a new store. */
export function reportMigrations(onMigrate: OnMigrate | undefined, seen: readonly string[], missing: readonly Migration[]): void {
  if (seen.length > 0 && missing.length > 0)
    onMigrate?.(`the schema of the store is brought up to date: ${span(missing.map(({ name }) => name))}`);
}

type Dialect = 'sqlite' | 'postgres';

const folderOf = (dialect: Dialect) => new URL(`./migrations/${dialect}/`, import.meta.url);

/** Migration paths by name, sorted by name; older ones are in numbered folders. */
const pathsIn = (dialect: Dialect) =>
  new Map(
    readdirSync(folderOf(dialect), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.sql'))
      .map((path) => [basename(path), path] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

export interface SchemaState {
  /** Last applied migration; null: no store. */
  readonly store: string | null;
  readonly weir: string;
  /** Migrations that a start or `weir migrate` would apply. */
  readonly missing: readonly string[];
  /** Migrations of a newer weir: this one can neither read nor write the store. */
  readonly newer: readonly string[];
}

export function schemaState(dialect: Dialect, seen: readonly string[]): SchemaState {
  const names = [...pathsIn(dialect).keys()];
  return {
    store: seen.toSorted().at(-1) ?? null,
    weir: names.at(-1)!,
    missing: names.filter((name) => !seen.includes(name)),
    newer: seen.filter((name) => !names.includes(name)).sort(),
  };
}

/** Throws REFUSED if a migration is missing: readers do not migrate. */
export function requireMigrations(dialect: Dialect, seen: readonly string[]): void {
  if (missingMigrations(dialect, seen).length === 0) return;
  const state = seen.length === 0 ? 'the store is empty' : 'the store was written by an older weir';
  throw new WeirError('REFUSED', `${state}: run weir migrate or start the service`);
}

/** In order. Throws REFUSED if the store has a migration of a newer weir. */
export function missingMigrations(dialect: Dialect, seen: readonly string[]): Migration[] {
  const { missing, newer } = schemaState(dialect, seen);
  if (newer.length > 0)
    throw new WeirError(
      'REFUSED',
      `the store was written by a newer weir: it has the ${newer.length > 1 ? 'migrations' : 'migration'} ${span(newer)}`,
    );
  const paths = pathsIn(dialect);
  return missing.map((name) => ({ name, text: readFileSync(new URL(paths.get(name)!, folderOf(dialect)), 'utf8') }));
}

const span = (names: readonly string[]) => (names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0]);
