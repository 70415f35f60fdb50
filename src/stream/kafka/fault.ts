import { findErrorBy } from '@platformatic/kafka';
import { untrustedReason } from '../../errors.ts';

/** On one line: the innermost causes of the client's nested errors, each once. */
export function reasonOf(error: unknown): string {
  const texts = causesOf(error).map((cause) => untrusted(cause) ?? (cause.serverErrorMessage || cause.message));
  return [...new Set(texts)].slice(0, 3).join('; ');
}

function untrusted(cause: Error): string | undefined {
  const reason = untrustedReason(cause);
  return reason && `the brokers' certificate is not trusted (KAFKA_CA_FILE): ${reason}`;
}

/** Brokers not reached yet, leaders not elected yet. */
export const mayPass = (error: unknown): boolean => causesOf(error).every((cause) => cause.canRetry === true || cause.errno !== undefined);

/** By name, such as MESSAGE_TOO_LARGE. */
export const isAnswer = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.some((name) => findErrorBy(error, 'apiId', name) !== null);

/** Fields of client and system errors. */
type ClientError = Error & { readonly canRetry?: boolean; readonly errno?: number; readonly serverErrorMessage?: string | null };

function causesOf(error: unknown): ClientError[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(causesOf);
  if (!(error instanceof Error)) return [new Error(String(error))];
  return error.cause === undefined ? [error] : causesOf(error.cause);
}
