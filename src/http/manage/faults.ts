import type { Caller } from '../../account/caller.ts';
import { allows } from '../../account/permission.ts';
import { ROLES, type RoleName } from '../../account/role.ts';
import { codeOf } from '../../errors.ts';
import type { Operation } from '../../manage/operation.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { missing } from '../auth/gate.ts';
import { badRequest, type HttpFault, statusOf } from '../errors.ts';

export const BOUND: HttpFault = { status: 403, message: 'The API key is bound to one list or feed: it cannot manage the workspace' };
export const WHICH_STATE: HttpFault = {
  status: 428,
  message: 'Name the state to change: If-Match with the ETag of the last response, or * for any state',
};
export const OTHER_REQUEST: HttpFault = { status: 422, message: 'The Idempotency-Key was used for another request' };
export const NO_TOKEN: HttpFault = badRequest([
  { field: 'Idempotency-Key', message: 'must have 1 to 200 visible ASCII characters', value: null },
]);
const noRole = (role: RoleName): HttpFault => ({ status: 403, message: `The API key may not do all that the role ${role} may` });
export const tooLarge = (bytes: number): HttpFault => ({ status: 413, message: `The body must be at most ${bytes} bytes` });

/** undefined: permitted. */
export function refusalOf({ listId, feedId, permissions }: Caller, { permission, bound, role }: Operation): HttpFault | undefined {
  if (feedId !== null || (listId !== null && !bound)) return BOUND;
  if (permission !== null && !allows(permissions, permission)) return missing(permission);
  return role === undefined || ROLES[role].every((each) => allows(permissions, each)) ? undefined : noRole(role);
}

/** undefined: the caller can do nothing about it. */
export function faultOf(error: unknown): HttpFault | undefined {
  const code = codeOf(error);
  const status = code && statusOf(code);
  if (status === undefined) return undefined;
  const { message, cause } = error as Error;
  if (status === 429)
    return { status, message, headers: { 'Retry-After': String((cause as { retryAfter?: number } | undefined)?.retryAfter ?? 1) } };
  if (status !== 400) return { status, message };
  const faults = [(cause as FieldFault | readonly FieldFault[] | undefined) ?? { field: 'request', message }].flat();
  return badRequest(faults.map((fault) => ({ ...fault, value: null })));
}
