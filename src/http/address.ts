/** What an address is: a row of the table (addresses.ts), from which the router, 404 and 405, the names of metrics and the API documents follow. */
import type { Caller } from '../account/caller.ts';
import type { Permission } from '../account/permission.ts';
import type { BodyLimit } from './bodies/body.ts';
import type { Answered, Call } from './call.ts';
import type { HttpFault } from './errors.ts';
import type { Group } from './groups.ts';
import type { Served } from './handlers.ts';
import type { Identity } from './manage/identify.ts';

/** GET answers HEAD too, where that has no row of its own. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';

/** Who may ask, and what is known of him then. */
export interface Askers {
  /** Who shows an API key. */
  readonly key: Caller;
  /** Who shows an API key, or is signed in to the console. */
  readonly person: Identity;
  /** Who shows the token of the metrics, where there is one. */
  readonly reader: null;
  readonly all: null;
}
export type GateName = keyof Askers;

/** A row as it is written; `row` makes it one of the table. */
export interface AddressRow<G extends GateName, T> {
  /** `{…}` stands for a segment, `*` at the end for any rest. Several are one address in several forms. */
  readonly path: string | readonly string[];
  /** As metrics call it; the first path when absent. */
  readonly name?: string;
  readonly method: Method;
  /** Whose limits of requests hold, and which shape errors have. undefined: none, and that of signals. */
  readonly group: Group | undefined;
  readonly gate: G;
  /** The permission that is needed; none when absent. */
  readonly needs?: Permission | null;
  /** What else is asked of who asks before the body is read: the fault where he may not. */
  may?(who: Askers[G]): HttpFault | undefined;
  /** The body that is read; none when absent. */
  readonly body?: BodyLimit;
  /** What is answered counts as a poll. */
  readonly isPolled?: true;
  /** It is for people: another method is 404, not 405. */
  readonly isPage?: true;
  /** What is asked for, or what is wrong with it. */
  read(call: Call, who: Askers[G], body: Buffer): T | HttpFault;
  /** What answers that; undefined where this process does not serve it. */
  answer(served: Served): ((asked: T) => Answered) | undefined;
}

/** A row of the table. */
export type Address = AddressRow<GateName, unknown>;

/** A row whose columns fit each other. */
export const row = <G extends GateName, T>(given: AddressRow<G, T>): Address => given as unknown as Address;

/** The paths of a row. */
export const pathsOf = ({ path }: Pick<Address, 'path'>): readonly string[] => (typeof path === 'string' ? [path] : path);

/** What metrics call a row. */
export const nameOf = (address: Pick<Address, 'path' | 'name'>): string => address.name ?? pathsOf(address)[0]!;
