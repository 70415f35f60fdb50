import type { Caller } from '../account/caller.ts';
import type { ErrorCode } from '../errors.ts';
import type { DocumentVariant } from '../feed/document.ts';
import { type BatchFault, MOST_DETAILS, refusalText } from '../signal/faults.ts';
import { GROUPS, type Group } from './groups.ts';

const NAMES: Record<number, string> = {
  400: 'ValidationError',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  417: 'ExpectationFailed',
  422: 'UnprocessableEntity',
  428: 'PreconditionRequired',
  429: 'TooManyRequests',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalServerError',
};

const TEXTS: Record<number, string> = {
  401: 'Invalid or missing API key',
  402: 'The subscription of the organization is not active',
  404: 'There is nothing at this address',
  408: 'The request took too long to arrive',
  417: 'The only expectation that is met is 100-continue',
  429: 'Too many requests',
  431: 'The request headers are too large',
  500: 'Internal server error',
};
const FEED_TEXTS: Record<number, string> = { ...TEXTS, 401: 'Unauthorized - invalid or missing API key' };

/** Texts reach clients: never quote a driver's error. */
export interface HttpFault {
  readonly status: number;
  /** Default per status and group. */
  readonly message?: string | undefined;
  /** The rows of a signal 400, or the object of a feed error. */
  readonly details?: readonly object[] | object | undefined;
  /** For 412. */
  readonly current?: object | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Not sent. */
  readonly by?: Pick<Caller, 'keyId' | 'workspaceId' | 'listId' | 'feedId'>;
  /** Not sent. */
  readonly of?: { readonly feedId: string | null; readonly variant: DocumentVariant } | undefined;
}

export const isRefusal = ({ status }: Pick<HttpFault, 'status'>): boolean => status >= 400 && status < 500;

export const isSignalShape = (group: Group): boolean => GROUPS[group].errors === 'signal';

const BOUNCER_TEXTS: Record<number, string> = { ...TEXTS, 403: 'access forbidden' };

/** Bouncers get 403 for an unknown key (SPEC D14.11). */
export const statusIn = (group: Group, status: number): number => (GROUPS[group].errors === 'bouncer' && status === 401 ? 403 : status);

/** `{error, message, code}` with `details` on 400, `{message}`, or `{success, error, details}`. */
export function errorBody(group: Group, fault: HttpFault): string {
  const { status, message, details } = fault;
  if (GROUPS[group].errors === 'bouncer') return JSON.stringify({ message: message ?? BOUNCER_TEXTS[statusIn(group, status)] });
  if (!isSignalShape(group)) return JSON.stringify({ success: false, error: message ?? FEED_TEXTS[status], details: details ?? {} });
  return JSON.stringify(errorFields(fault));
}

export const errorFields = ({ status, message, details, current }: HttpFault): object => ({
  error: NAMES[status] ?? NAMES[500],
  message: message ?? TEXTS[status],
  ...(status === 400 && { details: details ?? [] }),
  ...(current !== undefined && { current }),
  code: status,
});

/** Quotes the first fault; `details` has the first hundred (spec 7.2). */
export function badRequest(details: readonly BatchFault[]): HttpFault {
  return { status: 400, message: refusalText(details as readonly [BatchFault]), details: details.slice(0, MOST_DETAILS) };
}

const STATUSES: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: 404,
  REFUSED: 409,
  ANSWERED_BEFORE: 409,
  FORBIDDEN: 403,
  CHANGED: 412,
  USAGE: 400,
  TOO_LARGE: 413,
  LIMITED: 429,
};

/** undefined: the caller can do nothing about it. */
export const statusOf = (code: ErrorCode): number | undefined => STATUSES[code];

/** Invalid HTTP. */
const MALFORMED = badRequest([{ field: 'request', message: 'is malformed', value: null }]);

export const malformedIn = (group: Group): HttpFault => (isSignalShape(group) ? MALFORMED : { status: 400, message: 'Malformed request' });
