/** A store lost next to a stream with its messages is not recreated silently (SPEC D4.19). */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { STORE_FILE } from '../store/sqlite/positions.ts';
import { logReader, STREAM_FILE } from '../stream/sqlite/log.ts';

const ADVICE =
  'Restore the store (weir restore, or a database dump), or, to start with an empty store and skip these messages, run: weir stream adopt';

/** REFUSED: the data folder has a used stream but no store. */
export function refuseLostFile(dataDir: string): void {
  const [store, stream] = [STORE_FILE, STREAM_FILE].map((name) => join(dataDir, name));
  const isThere = (statSync(store, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isThere || !existsSync(stream) || endOf(stream) === 0) return;
  throw new WeirError('REFUSED', `${store} is missing, but ${stream} contains messages that had landed in it. ${ADVICE}`);
}

/** Next offset; 0 if unreadable: opening reports the reason. */
function endOf(stream: string): number {
  try {
    const log = new DatabaseSync(stream, { readOnly: true, timeout: 5000 });
    try {
      return logReader(log).bounds().end;
    } finally {
      log.close();
    }
  } catch {
    return 0;
  }
}

/** Ends of partitions with messages. */
export async function endsOf(stream: Pick<Stream, 'partitions' | 'bounds'>): Promise<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>();
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const { end } = await stream.bounds(partition);
    if (end > 0) ends.set(partition, end);
  }
  return ends;
}

type Accounts = Pick<StoreReads, 'organizations' | 'positionStreams'>;

/** Nothing was ever created or landed. */
export const isBlank = async (store: Accounts): Promise<boolean> =>
  (await store.organizations()).length === 0 && (await store.positionStreams()).length === 0;

/** REFUSED: the store is blank but the stream has messages. */
export async function refuseLostStore(store: Accounts, stream: Stream): Promise<void> {
  // Checked again after the stream: another process may have created the first key and accepted signals.
  if (!(await isBlank(store)) || (await endsOf(stream)).size === 0 || !(await isBlank(store))) return;
  throw new WeirError(
    'REFUSED',
    `the store is empty, but the stream ${await stream.id()} contains messages that had landed in another. ${ADVICE}`,
  );
}
