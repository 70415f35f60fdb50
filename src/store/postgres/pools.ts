/** PostgreSQL connections; with several hosts, to the one that accepts writes (SPEC D34.1). */
import { Pool, type PoolClient } from 'pg';
import { within } from '../../clock.ts';
import { postgresHosts } from '../../postgres-hosts.ts';
import { PostgresFault } from './fault.ts';

/** Connect timeout, ms. */
const CONNECT = 5000;
const REFUSES_WRITES = `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS refuses`;

/** Connects at the first call. Lost connections never end the process. `connections`: per host. */
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
    // Lost connections reject the calls that use them; the pool drops idle ones.
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      client.once('error', (error) => losses.set(client, error)); // what follows is its echo
      client.on('error', () => {});
      open.add(client);
      client.on('end', () => open.delete(client));
    });
    return pool;
  });
  // Connections known to accept writes; the server reports a change itself (25006).
  const writable = new WeakSet<PoolClient>();
  const cutAll = () => open.forEach((client) => void client.connection.stream.destroy());
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
    /** To be released. Rejects if no host accepts writes. */
    async connect(): Promise<PoolClient> {
      const first = last;
      let failure: unknown;
      for (let n = 0; n < pools.length; n += 1) {
        const at = (first + n) % pools.length;
        try {
          // Reads the files that the URL names and throws if one is missing.
          const client = await connectTo(at);
          last = at;
          return client;
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
    /** Tries others first. */
    doubt(client: PoolClient): void {
      if (hosts.get(client) === last) last = (last + 1) % pools.length;
    },
    lossOf: (client: PoolClient): Error | undefined => losses.get(client),
    /** Does not wait for a hanging server. */
    async close(): Promise<void> {
      await Promise.all(pools.map((pool) => pool.end()));
      // A hanging server never closes its side.
      setTimeout(cutAll, 1000).unref();
    },
    /** Closes also those in use. */
    async cut(): Promise<void> {
      cutAll();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}
