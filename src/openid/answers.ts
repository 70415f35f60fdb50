/** Responses of identity providers, limited in time and size, and the classification of their errors. */
import type { SignInFailure } from '../ports/identity-provider.ts';

/** Limits of one response: time in ms, size in bytes. */
export const ANSWER_TIME = 5000;
const ANSWER_BYTES = 1024 * 1024;

/**
 * `fetch` for providers: follows no redirects and limits the body. The operator sets the addresses, directly or by the discovery document:
 * private networks are allowed.
 */
export async function fetchAnswer(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(ANSWER_TIME);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const response = await fetch(url, { ...init, signal, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > ANSWER_BYTES) throw new Error(`${new URL(url).pathname} has answered more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  const isEmpty = [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers });
}

/** Errors of the authorization server itself. */
const SERVER_ERRORS = ['temporarily_unavailable', 'server_error'];

interface LibraryError extends Error {
  readonly code?: string;
  /** The provider's error code, from the token endpoint or the redirect. */
  readonly error?: string;
  readonly status?: number;
}

export function failureOf(thrown: unknown): SignInFailure {
  const { code, error, status, message, cause } = thrown as LibraryError;
  const answered = cause instanceof Response ? cause.status : status;
  const why = [message, error, cause instanceof Error ? cause.message : undefined]
    .filter(Boolean)
    .join(': ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, 300);
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return { failed: SERVER_ERRORS.includes(error ?? '') ? 'away' : 'denied', why };
  const isUnavailable = answered === undefined ? isUnreached(thrown) : answered >= 500 || answered === 429;
  return { failed: isUnavailable ? 'away' : 'refused', why };
}

/** Whether the request failed without a complete response. */
function isUnreached(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error.name === 'TimeoutError' || error.name === 'AbortError' || /fetch failed|has answered more than/.test(error.message))
      return true;
    if ((error as LibraryError).code?.startsWith('UND_ERR') || (error as LibraryError).code?.startsWith('ECONN')) return true;
  }
  return false;
}
