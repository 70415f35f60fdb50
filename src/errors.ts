/**
 * Errors that somebody can act on, each with a code and a sentence. A command that ends with one prints the sentence and exits
 * with 2 (`weir serve` with 1 where an engine is away). A code, unlike a class, survives a thread boundary (runtime/rpc.ts carries it across). An error without one of these
 * codes is either the operating system's or a defect of ours.
 */
const ERROR_CODES = [
  /** A mistake at the command line or in a setting. */
  'USAGE',
  /** What a call names does not exist. */
  'NOT_FOUND',
  /** The call cannot be done as things are. */
  'REFUSED',
  /** The caller may not do this. */
  'FORBIDDEN',
  /** What was to be changed is not as the caller knows it. */
  'CHANGED',
  /** A request with this idempotency key was answered before. */
  'ANSWERED_BEFORE',
  /** So much is never taken at once. */
  'TOO_LARGE',
  /** So much is not taken now; `cause.retryAfter` says after how many seconds it may be. */
  'LIMITED',
  /** The operator's geo file cannot be used. */
  'GEO_FILE',
  /** What is behind an address cannot be fetched. */
  'FETCH',
  /** The store does not answer or refuses the connection. */
  'STORE_UNAVAILABLE',
  /** The brokers of the stream do not answer, or refuse the connection. */
  'STREAM_UNAVAILABLE',
  /** The store does not answer, and memory holds no feed that is good enough. */
  'FEED_UNAVAILABLE',
  /** Something did not answer in time; its work goes on. */
  'TIMEOUT',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error with a code and a sentence for the person who can act on it. */
export class WeirError extends Error {
  override readonly name = 'WeirError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an error, whichever thread it comes from; undefined when it has none of ours. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return ERROR_CODES.find((known) => known === code);
}

/** Whether an error has this code, whichever thread it comes from. */
export const hasCode = (error: unknown, code: ErrorCode): error is Error & { code: ErrorCode } => codeOf(error) === code;

/** Node's codes for a certificate that does not pass. */
const UNTRUSTED = /^(CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_)/;

/** Why a server's certificate is not trusted, without the advice that Node adds for its own options; undefined for other errors. */
export const untrustedReason = (error: Error & { readonly code?: unknown }): string | undefined =>
  UNTRUSTED.test(String(error.code)) ? error.message.split(';')[0] : undefined;
