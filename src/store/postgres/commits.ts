/** Commits announced to other processes: NOTIFY after the commit, because within the transaction all notifying commits would wait for each other. */
import type { PoolClient } from 'pg';
import type { Database } from './database.ts';
import { openPools } from './pools.ts';

const CHANNEL = 'weir_commits';
/** Waits neither for the disk nor for a standby. */
const ANNOUNCE = `BEGIN; SET LOCAL synchronous_commit = off; NOTIFY ${CHANNEL}; END`;
/** Reconnect pause, ms. */
const AGAIN = 1000;

/** The database, announcing each transaction after its commit; transactions that commit meanwhile share an announcement. */
export function announcing(db: Database): Database {
  let running = false;
  let isDue = false;
  const announce = async () => {
    isDue = true;
    if (running) return;
    running = true;
    while (isDue) {
      isDue = false;
      // Clients that wait also look once a second.
      await db.run(ANNOUNCE).catch(() => undefined);
    }
    running = false;
  };
  return {
    ...db,
    async transaction(work, options) {
      const result = await db.transaction(work, options);
      if (options?.isQuiet !== true) void announce();
      return result;
    },
  };
}

/** Listens on a connection of its own while anybody watches. */
export function commitListener(url: string) {
  const calls = new Set<() => void>();
  let pools: ReturnType<typeof openPools> | undefined;
  const call = () => {
    for (const each of calls) each();
  };

  async function listen(on: ReturnType<typeof openPools>): Promise<void> {
    let client: PoolClient | undefined;
    try {
      client = await on.connect();
      const lost = new Promise<void>((resolve) => void client!.once('end', resolve).once('error', () => resolve()));
      client.on('notification', call);
      await client.query(`LISTEN ${CHANNEL}`);
      call();
      await lost;
    } catch {
      // Opened again below.
    }
    client?.release(true);
    if (pools === on) setTimeout(() => pools === on && void listen(on), AGAIN).unref();
  }

  async function close(): Promise<void> {
    const closing = pools;
    pools = undefined;
    await closing?.cut();
  }

  return {
    watch(onCommit: () => void): () => void {
      const own = () => onCommit();
      calls.add(own);
      if (pools === undefined) {
        pools = openPools(url, 1);
        void listen(pools);
      }
      return () => {
        calls.delete(own);
        if (calls.size === 0) void close();
      };
    },
    close,
  };
}
