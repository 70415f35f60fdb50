import { findErrorBy } from '@platformatic/kafka';

/** Why Kafka did not do it, in one line: what lies at the bottom of the client's nested errors, each text once. */
export function reasonOf(error: unknown): string {
  const texts = bottomOf(error).map((fault) => fault.serverErrorMessage || fault.message);
  return [...new Set(texts)].slice(0, 3).join('; ');
}

/** Whether it may go better later: brokers that are not reached yet, leaders that are not chosen yet. */
export function mayPass(error: unknown): boolean {
  return bottomOf(error).every((fault) => fault.canRetry === true || fault.errno !== undefined);
}

/** Whether Kafka answered with one of these error names (such as MESSAGE_TOO_LARGE). */
export function isAnswer(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.some((name) => findErrorBy(error, 'apiId', name) !== null);
}

/** What the errors of the client and of the system carry. */
type Fault = Error & { readonly canRetry?: boolean; readonly errno?: number; readonly serverErrorMessage?: string | null };

function bottomOf(error: unknown): Fault[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(bottomOf);
  if (!(error instanceof Error)) return [new Error(String(error))];
  return error.cause === undefined ? [error] : bottomOf(error.cause);
}
