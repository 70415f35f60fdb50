/** Connections to PostgreSQL: of several hosts to the one that takes writes (SPEC D34.1). */
import { Pool, type PoolClient } from 'pg';
import { within } from '../../clock.ts';
import { postgresHosts } from '../../postgres-hosts.ts';
import { PostgresFault } from './fault.ts';

/** How long a connection may take to be made, ms. */
const CONNECT = 5000;
const REFUSES_WRITES = `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS refuses`;

/** Connects at the first call; nothing that happens to a connection ends the process. `connections`: at most, to one host. */
export function openPools(url: string, connections: number) {
  const open = new Set<PoolClient>();
  const losses = new WeakMap<PoolClient, Error>();
  const pools = (postgresHosts(url) ?? [url]).map((connectionString) => {
    const pool = new Pool({
      connectionString,
      max: connections,
      connectionTimeoutMillis: CONNECT,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      fallback_application_name: 'weir',
    });
    // A lost connection fails the call that uses it; the pool drops an idle one.
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      client.once('error', (error) => losses.set(client, error)); // what follows is its echo
      client.on('error', () => {});
      open.add(client);
      client.on('end', () => open.delete(client));
    });
    return pool;
  });
  // Connections to a host that was found to take writes; it says so itself when it does not any more (25006).
  const writable = new WeakSet<PoolClient>();
  const hosts = new WeakMap<PoolClient, number>();
  let last = 0;

  async function connectTo(host: number): Promise<PoolClient> {
    const client = await pools[host]!.connect();
    hosts.set(client, host);
    if (pools.length === 1 || writable.has(client)) return client;
    try {
      const asked = client.query<{ readonly refuses: boolean }>(REFUSES_WRITES);
      const { rows } = await within(asked, CONNECT, 'PostgreSQL');
      if (rows[0]!.refuses) throw new PostgresFault('PostgreSQL takes no writes: none of its hosts is the primary', true, undefined);
      writable.add(client);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return {
    /** A connection, to be released. Rejects when no host answers that takes writes. */
    async connect(): Promise<PoolClient> {
      const first = last;
      let failure: unknown;
      for (let n = 0; n < pools.length; n += 1) {
        const at = (first + n) % pools.length;
        try {
          // Files that the address names are read at once, and one that is missing throws.
          const client = await connectTo(at);
          last = at;
          return client;
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
    /** The host of a connection does not answer: others are asked before it. */
    doubt(client: PoolClient): void {
      if (hosts.get(client) === last) last = (last + 1) % pools.length;
    },
    /** What a lost connection was lost of, before what follows from it. */
    lossOf: (client: PoolClient): Error | undefined => losses.get(client),
    /** Nothing that a server does not answer keeps it waiting. */
    async close(): Promise<void> {
      await Promise.all(pools.map((pool) => pool.end()));
      // A server that hangs never closes its side.
      const cutAll = () => open.forEach((client) => void client.connection.stream.destroy());
      setTimeout(cutAll, 1000).unref();
    },
  };
}
