/** A row of table.ts, from which routes, checks, documents and tests are derived. */

import type { TObject, TSchema } from 'typebox';
import { NAME_RULE, nameFault } from '../account/name.ts';
import type { Permission } from '../account/permission.ts';
import { WeirError } from '../errors.ts';
import type { Static } from '../json/schema.ts';
import type { FieldFault } from '../signal/validate.ts';
import type { ManageContext } from './context.ts';
import type { Outcome } from './outcome.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Given<Q, B> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** For operations without a body schema. */
  readonly bytes: Uint8Array;
}

/** `of`: the objects that its names mean, as JSON (SPEC D67.11). `refusal`: why it cannot wait. */
export type Touched =
  | (({ readonly lists: readonly string[] | undefined } | { readonly why: string }) & { readonly of: unknown; readonly refusal?: string })
  | null;

export interface OperationSpec<Q extends TObject, B extends TObject, T> {
  readonly summary: string;
  readonly description?: string;
  /** Also for keys bound to a list. */
  readonly bound?: true;
  /** Refuses other parameters. */
  readonly query?: Q;
  /** Refuses other fields. */
  readonly body?: B;
  /** A body that is not JSON. */
  readonly rawBody?: { readonly type: string; readonly example: string };
  /** `run` validates the bytes; the schema is for the API document. */
  readonly validatesOwnBody?: true;
  /** Needed besides all permissions. */
  readonly role?: 'admin';
  /** Bytes; default 64 KiB. */
  readonly bodyBytes?: number;
  /** With a title and examples. `landed: false` means status 202. */
  readonly answer: TSchema;
  /** Default 200. */
  readonly status?: 201 | 202;
  /** Audit event of a recorded change; default none. */
  readonly audit?: string | null;
  /** Needs If-Match (SPEC D15.9) and a GET of the same path. */
  readonly edits?: true;
  /**
   * Accepts an Idempotency-Key (SPEC D15.11): the value of `run` is stored as JSON. `in_store`: in the same transaction; `elsewhere`: after
   * the work, so that interrupted work may run again.
   */
  readonly creates?: 'in_store' | 'elsewhere';
  /**
   * The lists whose share of feeds it can change, without messages (SPEC D67.6): null: none; `lists` undefined: all; or why it always
   * waits for approval.
   */
  touches?(context: ManageContext, given: Given<Static<Q>, Static<B>>): Promise<Touched>;
  /** 202, then poll (SPEC D15.55); a query parameter: only with it. */
  readonly isLong?: true | string;
  /** With example messages. */
  readonly refusals?: Readonly<Partial<Record<404 | 409 | 413 | 422, string>>>;
  readonly examples?: readonly object[];
  /** Rejects with a WeirError for the caller. The value is JSON. */
  run(context: ManageContext, given: Given<Static<Q>, Static<B>>): Promise<T>;
  /** Renders a value, new or stored; default: as the body. */
  show?(value: T, context: ManageContext): Outcome;
}

type AnySpec = OperationSpec<TObject, TObject, unknown>;

export interface Operation extends Omit<AnySpec, 'audit' | 'show'>, Required<Pick<AnySpec, 'audit' | 'show'>> {
  /** Unique; the operationId. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1/manage, such as `/lists/{list}`. */
  readonly path: string;
  /** null: any key without a binding. */
  readonly permission: Permission | null;
}

/** `request`: method and path. */
export function operation<T, Q extends TObject = TObject<Record<never, never>>, B extends TObject = TObject<Record<never, never>>>(
  name: string,
  request: `${Method} /${string}`,
  permission: Permission | null,
  spec: OperationSpec<Q, B, T>,
): Operation {
  const [method, path] = request.split(' ');
  return { name, method, path, permission, audit: null, show: (body: object) => ({ body }), ...spec } as unknown as Operation;
}

/** Rejects with USAGE (SPEC D47.10). */
export function refuseNewName(given: string | null | undefined, before: string | null): void {
  if (given != null && given !== before && nameFault(given) !== null) throw fieldFault('name', `must have ${NAME_RULE}`);
}

export const fieldFault = (field: string, message: string): WeirError => fieldFaults([{ field, message }]);

/** `details` of the response. */
export const fieldFaults = (faults: readonly [FieldFault, ...FieldFault[]]): WeirError =>
  new WeirError('USAGE', `${faults[0].field} ${faults[0].message}`, { cause: faults });
