import type { Group } from '../errors.ts';
import type { RememberedKey } from './remembered-keys.ts';

/**
 * Which key each connection has shown last, and in which header: an appliance shows the same with every poll, and to hash it each time is
 * a tenth of the work of a 304. It lasts as long as the connection does.
 */
export interface ShownKeys {
  /** The key, where the connection has shown it last with this very header; undefined otherwise. */
  find(connection: object, group: Group, authorization: string): RememberedKey | undefined;
  note(connection: object, group: Group, authorization: string, key: RememberedKey): void;
}

interface Shown {
  /** Groups differ in the forms of header that they take. */
  readonly group: Group;
  readonly authorization: string;
  readonly key: RememberedKey;
}

/** No connection has shown a key yet. */
export function shownKeys(): ShownKeys {
  const last = new WeakMap<object, Shown>();
  return {
    find(connection, group, authorization) {
      const shown = last.get(connection);
      return shown !== undefined && shown.group === group && isSame(shown.authorization, authorization) ? shown.key : undefined;
    },
    note(connection, group, authorization, key) {
      last.set(connection, { group, authorization, key });
    },
  };
}

/** Compares in constant time: behind a proxy a connection may have many clients. */
function isSame(known: string, shown: string): boolean {
  if (known.length !== shown.length) return false;
  let difference = 0;
  for (let i = 0; i < known.length; i += 1) difference |= known.charCodeAt(i) ^ shown.charCodeAt(i);
  return difference === 0;
}
