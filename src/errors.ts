/**
 * Errors that somebody can act on. A command prints the sentence and exits with 2 (`weir serve` with 1 if an engine is down). Unlike a
 * class, a code survives a thread boundary (runtime/rpc.ts). Other errors come from the operating system or are defects.
 */
const ERROR_CODES = [
  'USAGE',
  'NOT_FOUND',
  /** Not possible in the current state. */
  'REFUSED',
  'FORBIDDEN',
  /** The resource has another state than expected. */
  'CHANGED',
  /** A request with this idempotency key was answered before. */
  'ANSWERED_BEFORE',
  /** Never accepted at this size. */
  'TOO_LARGE',
  /** Over a limit for now; `cause.retryAfter`: seconds until a retry. */
  'LIMITED',
  'GEO_FILE',
  'FETCH',
  /** Does not answer or refuses the connection. */
  'STORE_UNAVAILABLE',
  'STREAM_UNAVAILABLE',
  /** The store does not answer, and no cached feed is usable. */
  'FEED_UNAVAILABLE',
  /** No answer in time; the work continues. */
  'TIMEOUT',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export class WeirError extends Error {
  override readonly name = 'WeirError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Works across threads; undefined: none of ours. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return ERROR_CODES.find((known) => known === code);
}

export const hasCode = (error: unknown, code: ErrorCode): error is Error & { code: ErrorCode } => codeOf(error) === code;

/** Node's codes of rejected certificates. */
const UNTRUSTED = /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;

/** Why a server's certificate is not trusted, without Node's advice on its own options; undefined for other errors. */
export const untrustedReason = (error: Error & { readonly code?: unknown }): string | undefined =>
  UNTRUSTED.test(String(error.code)) ? error.message.split(';')[0] : undefined;
