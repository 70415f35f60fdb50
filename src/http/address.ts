/** A row of addresses.ts: router, 404 and 405, metric labels and API documents follow from it. */
import type { Caller } from '../account/caller.ts';
import type { Permission } from '../account/permission.ts';
import type { BodyLimit } from './bodies/body.ts';
import type { Answered, Call } from './call.ts';
import type { HttpFault } from './errors.ts';
import type { Group } from './groups.ts';
import type { Served } from './handlers.ts';
import type { Identity } from './manage/identify.ts';

/** GET also answers HEAD unless HEAD has a row of its own. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';

export interface GateResults {
  readonly key: Caller;
  /** An API key or a console session. */
  readonly person: Identity;
  /** The metrics token, if one is set. */
  readonly reader: null;
  readonly all: null;
}
export type GateName = keyof GateResults;

export interface AddressRow<G extends GateName, T> {
  /** `{…}` matches a segment, a final `*` any rest. Several paths are aliases. */
  readonly path: string | readonly string[];
  /** Label in metrics; default the first path. */
  readonly name?: string;
  readonly method: Method;
  /** Sets rate limit and shape of errors. undefined: no limit, errors as for signals. */
  readonly group: Group | undefined;
  readonly gate: G;
  readonly needs?: Permission | null;
  may?(admitted: GateResults[G]): HttpFault | undefined;
  readonly body?: BodyLimit;
  readonly isPolled?: true;
  /** A page for people: other methods get 404 instead of 405. */
  readonly isPage?: true;
  read(call: Call, admitted: GateResults[G], body: Buffer): T | HttpFault;
  /** undefined if this process does not serve it. */
  answer(served: Served): ((asked: T) => Answered) | undefined;
}

export type Address = AddressRow<GateName, unknown>;

export const row = <G extends GateName, T>(given: AddressRow<G, T>): Address => given as unknown as Address;

export const pathsOf = ({ path }: Pick<Address, 'path'>): readonly string[] => (typeof path === 'string' ? [path] : path);

export const nameOf = (address: Pick<Address, 'path' | 'name'>): string => address.name ?? pathsOf(address)[0]!;
