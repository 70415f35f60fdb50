import type { Row } from './rows.ts';
import type { Value } from './work.ts';

/** How a column stores a value. */
interface Column<T> {
  read(value: unknown): T;
  write(value: T): Value;
}

const asIs = <T extends Value>(value: T): Value => value;

export const TEXT: Column<string> = { read: String, write: asIs };
export const NUMBER: Column<number> = { read: Number, write: asIs };
export const FLAG: Column<boolean> = { read: (value) => Number(value) === 1, write: Number };
export const jsonAs = <T>(): Column<T> => ({ read: (value) => JSON.parse(String(value)) as T, write: (value) => JSON.stringify(value) });
export const orNull = <T>({ read, write }: Column<T>): Column<T | null> => ({
  read: (value) => (value === null ? null : read(value)),
  write: (value) => (value === null ? null : write(value)),
});

/** Objects in a table whose columns have the names of the members: `last_pull` of `lastPull`. */
export function recordOf<T extends object>(columns: { readonly [K in keyof T]-?: Column<T[K]> }) {
  const members = Object.keys(columns) as (keyof T & string)[];
  const names = members.map((member) => member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return {
    names,
    read: (row: Row) => Object.fromEntries(members.map((member, i) => [member, columns[member].read(row[names[i]!])])) as T,
    values: (object: T): Value[] => members.map((member) => columns[member].write(object[member])),
  };
}
