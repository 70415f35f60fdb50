/** What an operation of management is: one row of the table (table.ts), from which routes, checks, documents and tests follow. */

import type { TObject, TSchema } from 'typebox';
import { NAME_RULE, nameFault } from '../account/name.ts';
import type { Permission } from '../account/permission.ts';
import { WeirError } from '../errors.ts';
import type { Static } from '../json/schema.ts';
import type { FieldFault } from '../signal/validate.ts';
import type { ManageContext } from './context.ts';
import type { Outcome } from './outcome.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a request gives an operation: the parts of its path, its query, its body. */
export interface Given<Q, B> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The body as it was sent, for operations that have no schema for it. */
  readonly bytes: Uint8Array;
}

/** A row as it is written; `operation` makes it one of the table. */
export interface OperationSpec<Q extends TObject, B extends TObject, T> {
  readonly summary: string;
  /** More of it, for the API document. */
  readonly description?: string;
  /** Also keys that are bound to a list may do it, for that list. */
  readonly bound?: true;
  /** Parameters of the query: texts, integers, booleans. No others are taken. */
  readonly query?: Q;
  /** Fields of the body. No others are taken. */
  readonly body?: B;
  /** A body that is no JSON and has no schema, for the API document: its media type, and an example. */
  readonly rawBody?: { readonly type: string; readonly example: string };
  /** The body is read and judged where the operation is run, from its bytes: its schema is for the document. */
  readonly isReadWhereItRuns?: true;
  /** Who may do it has all permissions besides. */
  readonly role?: 'admin';
  /** The longest body, bytes; 64 KiB when absent. */
  readonly bodyBytes?: number;
  /** The answer's body; has a title and examples. One with `landed` is 202 while that is false. */
  readonly answer: TSchema;
  /** The status of the answer when it is done; 200 when absent. */
  readonly status?: 201 | 202;
  /** The event in the audit log, for what changes something that the store records there; null, as when absent: none. */
  readonly audit?: string | null;
  /** The request has to say which state it changes: If-Match (SPEC D15.9). Has to have a GET of the same path. */
  readonly edits?: true;
  /**
   * Takes an Idempotency-Key (SPEC D15.11): what `run` returns is kept as JSON, and shown again. `in_store`: the store's transaction keeps
   * it; `elsewhere`: it is kept once it was done, and what breaks off before may be done again.
   */
  readonly creates?: 'in_store' | 'elsewhere';
  /** May take longer than a client waits: then it is 202, and its answer is asked for (SPEC D15.55). */
  readonly isLong?: true;
  /** Statuses that it answers besides those of all operations, with the sentence of an example. */
  readonly refusals?: Readonly<Partial<Record<404 | 409 | 413 | 422, string>>>;
  /** Examples of the body for the API document. */
  readonly examples?: readonly object[];
  /** Does it. Rejects with a WeirError for what the caller can act on. Values that it returns are JSON. */
  run(context: ManageContext, given: Given<Static<Q>, Static<B>>): Promise<T>;
  /** The answer that shows what `run` has returned, also when it was returned before; absent: that is its body. */
  show?(value: T, context: ManageContext): Outcome;
}

type AnySpec = OperationSpec<TObject, TObject, unknown>;

/** A row of the table. */
export interface Operation extends Omit<AnySpec, 'audit' | 'show'>, Required<Pick<AnySpec, 'audit' | 'show'>> {
  /** Unique; the API document's operationId. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1/manage, such as `/lists/{list}`. */
  readonly path: string;
  /** null: every key that is not bound to a list or feed. */
  readonly permission: Permission | null;
}

/** A row whose query, body and value have types of their own. `request`: its method and path. */
export function operation<T, Q extends TObject = TObject<Record<never, never>>, B extends TObject = TObject<Record<never, never>>>(
  name: string,
  request: `${Method} /${string}`,
  permission: Permission | null,
  spec: OperationSpec<Q, B, T>,
): Operation {
  const [method, path] = request.split(' ');
  return { name, method, path, permission, audit: null, show: (body: object) => ({ body }), ...spec } as unknown as Operation;
}

/** Rejects with USAGE a name that is given to something that has another one, where it cannot be one (SPEC D47.10). */
export function refuseNewName(given: string | null | undefined, before: string | null): void {
  if (given != null && given !== before && nameFault(given) !== null) throw fieldFault('name', `must have ${NAME_RULE}`);
}

/** The error of a field or parameter whose value no schema can judge. */
export const fieldFault = (field: string, message: string): WeirError => fieldFaults([{ field, message }]);

/** The error of several, each a row of the answer's `details`. */
export const fieldFaults = (faults: readonly [FieldFault, ...FieldFault[]]): WeirError =>
  new WeirError('USAGE', `${faults[0].field} ${faults[0].message}`, { cause: faults });
