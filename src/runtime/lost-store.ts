/** A store that was lost beside a stream that has its messages is not made anew in silence (SPEC D4.19). */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { STORE_FILE } from '../store/sqlite/positions.ts';
import { logReader, STREAM_FILE } from '../stream/sqlite/log.ts';

const ADVICE =
  'Put a copy of the store back (weir restore, or a dump of the database), or, to start anew and leave those messages alone, run: weir stream adopt';

/** Throws REFUSED where the data folder has a stream that has taken messages, and no store. */
export function refuseLostFile(dataDir: string): void {
  const [store, stream] = [STORE_FILE, STREAM_FILE].map((name) => join(dataDir, name));
  const isThere = (statSync(store, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isThere || !existsSync(stream) || endOf(stream) === 0) return;
  throw new WeirError('REFUSED', `${store} is gone, and ${stream} holds messages that had landed in it. ${ADVICE}`);
}

/** The offset of the next message; 0 where that cannot be read: whoever opens the stream says why. */
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

/** Where each partition of a stream ends, of those that have taken messages. */
export async function endsOf(stream: Pick<Stream, 'partitions' | 'bounds'>): Promise<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>();
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const { end } = await stream.bounds(partition);
    if (end > 0) ends.set(partition, end);
  }
  return ends;
}

type Accounts = Pick<StoreReads, 'organizations' | 'positionStreams'>;

/** Whether nothing was ever made in the store and nothing has landed in it. */
export const isBlank = async (store: Accounts): Promise<boolean> =>
  (await store.organizations()).length === 0 && (await store.positionStreams()).length === 0;

/** Rejects with REFUSED where the store is blank and the stream has taken messages: nobody could have sent them with a key of this store. */
export async function refuseLostStore(store: Accounts, stream: Stream): Promise<void> {
  // Looked at once more behind the stream: another process may have made the first key meanwhile, and taken signals with it.
  if (!(await isBlank(store)) || (await endsOf(stream)).size === 0 || !(await isBlank(store))) return;
  throw new WeirError(
    'REFUSED',
    `the store is empty, and the stream ${await stream.id()} holds messages that had landed in another. ${ADVICE}`,
  );
}
