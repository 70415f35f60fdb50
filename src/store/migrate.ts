import { readdirSync, readFileSync } from 'node:fs';
import { WeirError } from '../errors.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

export type OnMigrate = (sentence: string) => void;

/** Reports nothing for a new store. */
export function reportMigrations(onMigrate: OnMigrate | undefined, seen: readonly string[], missing: readonly Migration[]): void {
  if (seen.length > 0 && missing.length > 0)
    onMigrate?.(`the schema of the store is brought up to date: ${span(missing.map(({ name }) => name))}`);
}

type Dialect = 'sqlite' | 'postgres';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Migrations of weir 0.2.0: every store has all of them. `migrations/base/` has the schema after them. */
const BASE = `001-initial 002-list-names 003-narrow-searches 004-foreign-instants 005-rule-counts 006-batches 007-guard-rails 008-feeds
  009-expression-revision 010-bouncers 011-management 012-devices-and-history 013-sessions 014-enforcement-order 015-undone 016-kept-rows
  017-deleted 018-bouncer-streams 019-room 021-samples 022-replacements 023-key-ends 024-added-expired-removed 025-sources 026-key-networks
  028-targets 029-people`
  .split(/\s+/)
  .map((name) => `${name}.sql`);

/** SQL of both dialects has the types of PostgreSQL and the table options of SQLite. */
const WORDS: Readonly<Record<Dialect, readonly (readonly [RegExp, string])[]>> = {
  postgres: [[/\) STRICT(, WITHOUT ROWID)?;/g, ');']],
  sqlite: [
    [/\b(BIGINT|SMALLINT)\b/g, 'INTEGER'],
    [/\bBYTEA\b/g, 'BLOB'],
    [/\bDOUBLE PRECISION\b/g, 'REAL'],
    [/\bGENERATED (ALWAYS|BY DEFAULT) AS IDENTITY\b/g, 'AUTOINCREMENT'],
    [/ COLLATE "C"| DEFAULT nextval\('rule_ids'\)/g, ''],
  ],
};

const sqlOf = (path: string, dialect: Dialect) =>
  WORDS[dialect].reduce((text, [word, other]) => text.replace(word, other), readFileSync(new URL(path, FOLDER), 'utf8'));

const baseOf = (dialect: Dialect) => ['accounts', 'content', dialect, 'rules'].map((name) => sqlOf(`base/${name}.sql`, dialect)).join('\n');

/** Sorted by name: shared ones, and those in the dialect's folder. */
const pathsIn = (dialect: Dialect) =>
  new Map(
    ['', 'from-064/', `${dialect}/`]
      .flatMap((folder) => readdirSync(new URL(folder, FOLDER)).map((name) => [name, folder + name] as const))
      .filter(([name]) => name.endsWith('.sql'))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

export interface SchemaState {
  /** The last; null: no store. */
  readonly store: string | null;
  readonly weir: string;
  readonly missing: readonly string[];
  /** Migrations of a newer weir: this one can neither read nor write the store. */
  readonly newer: readonly string[];
}

/** Throws REFUSED for a store of a weir before 0.2.0. */
export function schemaState(dialect: Dialect, seen: readonly string[]): SchemaState {
  const names = [...BASE, ...pathsIn(dialect).keys()];
  const newer = seen.filter((name) => !names.includes(name)).sort();
  if (seen.length > 0 && newer.length === 0 && BASE.some((name) => !seen.includes(name)))
    throw new WeirError('REFUSED', 'the store was written by a weir before 0.2.0: start weir 0.2.0 with it first, then this one');
  return {
    store: seen.toSorted().at(-1) ?? null,
    weir: names.at(-1)!,
    missing: names.filter((name) => !seen.includes(name)),
    newer,
  };
}

/** Readers do not migrate. */
export function requireMigrations(dialect: Dialect, seen: readonly string[]): void {
  if (missingMigrations(dialect, seen).length === 0) return;
  const state = seen.length === 0 ? 'the store is empty' : 'the store was written by an older weir';
  throw new WeirError('REFUSED', `${state}: run weir migrate or start the service`);
}

/** In order. REFUSED: a store of a newer weir. */
export function missingMigrations(dialect: Dialect, seen: readonly string[]): Migration[] {
  const { missing, newer } = schemaState(dialect, seen);
  if (newer.length > 0)
    throw new WeirError(
      'REFUSED',
      `the store was written by a newer weir: it has the ${newer.length > 1 ? 'migrations' : 'migration'} ${span(newer)}`,
    );
  const paths = pathsIn(dialect);
  const textOf = (name: string) => (paths.has(name) ? sqlOf(paths.get(name)!, dialect) : name === BASE[0] ? baseOf(dialect) : '');
  return missing.map((name) => ({ name, text: textOf(name) }));
}

const span = (names: readonly string[]) => (names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0]);
