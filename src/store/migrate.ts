/** The numbered migrations of a dialect. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { WeirError } from '../errors.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** Told in a sentence, before it begins, that a store which was there already is brought up to date. */
export type OnMigrate = (sentence: string) => void;

/** What is told of migrations; nothing of those that make a new store. */
export function reportMigrations(onMigrate: OnMigrate | undefined, seen: readonly string[], missing: readonly Migration[]): void {
  if (seen.length > 0 && missing.length > 0)
    onMigrate?.(`the schema of the store is brought up to date: ${span(missing.map(({ name }) => name))}`);
}

type Dialect = 'sqlite' | 'postgres';

const folderOf = (dialect: Dialect) => new URL(`./migrations/${dialect}/`, import.meta.url);

/** The path of each migration below the folder of its dialect, by its name and in the order of names: older ones stand in folders of their numbers. */
const pathsIn = (dialect: Dialect) =>
  new Map(
    readdirSync(folderOf(dialect), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.sql'))
      .map((path) => [basename(path), path] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** The schema of a store beside the one that this weir reads and writes; each is named by its last migration. */
export interface SchemaState {
  /** null: there is no store. */
  readonly store: string | null;
  readonly weir: string;
  /** What a start, or `weir migrate`, would apply to it. */
  readonly missing: readonly string[];
  /** What a newer weir has applied: then this one can neither read nor write it. */
  readonly newer: readonly string[];
}

/** Compares the migrations that a store has seen with those that there are. */
export function schemaState(dialect: Dialect, seen: readonly string[]): SchemaState {
  const names = [...pathsIn(dialect).keys()];
  return {
    store: seen.toSorted().at(-1) ?? null,
    weir: names.at(-1)!,
    missing: names.filter((name) => !seen.includes(name)),
    newer: seen.filter((name) => !names.includes(name)).sort(),
  };
}

/** Throws REFUSED where a store has not seen every migration: who only reads does not migrate. */
export function requireMigrations(dialect: Dialect, seen: readonly string[]): void {
  if (missingMigrations(dialect, seen).length === 0) return;
  const state = seen.length === 0 ? 'the store is empty' : 'the store was written by an older weir';
  throw new WeirError('REFUSED', `${state}: run weir migrate or start the service`);
}

/** The migrations that a store has not seen, in their order. Throws REFUSED when it has seen one that is not there: a newer weir's. */
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
