/** SPEC D4.6. */
import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { DeadLetter } from '../ports/landing.ts';
import type { Store } from '../ports/store.ts';
import type { Message } from '../ports/stream.ts';
import { ACCEPTANCE } from '../signal/limits.ts';

/** For the audit log. */
type Of = Parameters<Store['dropDeadLetter']>[1];

export const deadLetterJson = ({ id, at, reason, streamId, partition, offset, timestamp, key, headers, value }: DeadLetter) => ({
  id,
  at: isoTime(at),
  reason,
  stream_id: streamId,
  partition,
  offset,
  timestamp: isoTime(timestamp),
  key,
  headers,
  value,
});

/** Rejects with NOT_FOUND unless `isOwn` accepts all. */
export async function findLetters(
  reads: Pick<Store, 'deadLetter'>,
  ids: readonly string[],
  isOwn: (letter: DeadLetter) => boolean = () => true,
): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (const id of new Set(ids)) {
    const letter = /^\d{1,15}$/.test(id) ? await reads.deadLetter(Number(id)) : undefined;
    if (letter === undefined || !isOwn(letter)) throw new WeirError('NOT_FOUND', `there is no dead letter "${id}"`);
    letters.push(letter);
  }
  return letters;
}

/** Keeps the original time of receipt. */
export async function replayLetters(
  store: Pick<Store, 'dropDeadLetter'>,
  publish: (messages: readonly Message[]) => Promise<void>,
  letters: readonly DeadLetter[],
  of?: Of,
): Promise<void> {
  await publish(
    letters.map((letter) => ({
      key: letter.key,
      headers: { ...letter.headers, received_at: letter.headers.received_at ?? isoTime(acceptedAt(letter))! },
      value: letter.value,
    })),
  );
  await dropLetters(store, letters, of);
}

export async function dropLetters(store: Pick<Store, 'dropDeadLetter'>, letters: readonly DeadLetter[], of?: Of): Promise<void> {
  for (const { id } of letters) await store.dropDeadLetter(id, of);
}

/** ms; the timestamp if plausible, else when it became a dead letter. */
const acceptedAt = ({ timestamp, at }: DeadLetter): number => (timestamp >= ACCEPTANCE.first && timestamp < at ? timestamp : at);

/** Needs the workspace's key; a header must not name another workspace. */
export const isOfWorkspace =
  (workspaceId: string) =>
  ({ key, headers }: DeadLetter): boolean =>
    key === workspaceId && (headers.workspace_id ?? workspaceId) === workspaceId;
