/**
 * Errors that somebody can act on. One row for each code; a code, unlike a class, survives a thread boundary.
 * An error without one of these codes is either the operating system's or a defect of ours.
 */

interface ErrorRow {
  /** Exit code of a command that ends with it: 1 = the work failed in part, 2 = nothing was done. */
  readonly exitCode: 1 | 2;
  /** HTTP status where a request ends with it. */
  readonly status: number;
}

const ERRORS = {
  /** A mistake at the command line or in a setting. */
  USAGE: { exitCode: 2, status: 400 },
  /** What a call names does not exist. */
  NOT_FOUND: { exitCode: 2, status: 404 },
  /** The call cannot be done as things are. */
  REFUSED: { exitCode: 2, status: 409 },
  /** The operator's geo file cannot be used. */
  GEO_FILE: { exitCode: 2, status: 500 },
  /** The store does not answer or refuses the connection. */
  STORE_UNAVAILABLE: { exitCode: 2, status: 500 },
  /** The store does not answer, and memory holds no feed that is good enough. */
  FEED_UNAVAILABLE: { exitCode: 2, status: 500 },
  /** Something did not answer in time; its work goes on. */
  TIMEOUT: { exitCode: 2, status: 500 },
} as const satisfies Record<string, ErrorRow>;

type ErrorCode = keyof typeof ERRORS;

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
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined;
}

/** Whether an error has this code, whichever thread it comes from. */
export const hasCode = (error: unknown, code: ErrorCode): error is Error & { code: ErrorCode } => codeOf(error) === code;
