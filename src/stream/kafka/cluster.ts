import { Admin, type API, type BaseOptions, type Connection, ConnectionPool, kGetApi } from '@platformatic/kafka';
import { type KafkaOptions, security } from './options.ts';

/** How long a broker may take to answer, ms, before it is asked again over a new connection. */
const REQUEST_TIMEOUT = 3000;

/** The brokers of one topic: its metadata, and connections to the leaders of its partitions. */
export interface Cluster {
  readonly topic: string;
  readonly admin: Admin;
  /** Options for more clients and connections to the same brokers. */
  readonly connecting: BaseOptions;
  /**
   * The topic's id, its number of partitions, and those of them that have no leader now; `fresh` asks the brokers, otherwise the
   * answer may be 5 s old.
   */
  describe(fresh: boolean): Promise<{ id: string; partitions: number; leaderless: number[] }>;
  /** The number of partitions in the last metadata. */
  partitions(): number;
  /** Has the metadata read anew before the next request. Call it after a failed one: leaders may have moved. */
  doubt(): void;
  /** A connection from `pool` to the leader of a partition. */
  leader(partition: number, pool?: ConnectionPool): Promise<Connection>;
  /** A connection to any broker. */
  anyone(): Promise<Connection>;
  /** The request of this name, in the newest version that both sides know. */
  request<Arguments extends unknown[], Response>(name: string): Promise<API<Arguments, Response>>;
  close(): void;
}

/** Prepares the connections to the brokers of a topic; none is opened before it is needed. */
export function connectCluster(options: KafkaOptions): Cluster {
  const { topic } = options;
  const connecting: BaseOptions = {
    clientId: 'weir',
    bootstrapBrokers: [...options.brokers],
    connectTimeout: REQUEST_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    retries: 1,
    retryDelay: 100,
    ...security(options),
  };
  const admin = new Admin(connecting);
  surviveErrors(admin.connections);
  let doubted = false;
  let partitions = 1;

  async function metadata(fresh: boolean) {
    const { brokers, topics } = await admin.metadata({ topics: [topic], forceUpdate: fresh || doubted });
    doubted = false;
    const known = topics.get(topic)!;
    partitions = known.partitionsCount;
    return { brokers, ...known };
  }

  return {
    topic,
    admin,
    connecting,
    async describe(fresh) {
      const { id, partitionsCount, partitions, brokers } = await metadata(fresh);
      const leaderless = Object.keys(partitions)
        .map(Number)
        .filter((partition) => !brokers.has(partitions[partition]?.leader ?? -1));
      return { id, partitions: partitionsCount, leaderless };
    },
    partitions: () => partitions,
    doubt() {
      doubted = true;
    },
    async leader(partition, pool = admin.connections) {
      const { brokers, partitions } = await metadata(false);
      const broker = brokers.get(partitions[partition]?.leader ?? -1);
      if (broker === undefined) throw new Error(`partition ${partition} of the topic ${topic} has no leader`);
      return pool.get(broker);
    },
    async anyone() {
      const { brokers } = await metadata(false);
      return admin.connections.getFirstAvailable([...brokers.values()]);
    },
    request: (name) =>
      new Promise((resolve, reject) => {
        admin[kGetApi]<never, never>(name, (error, api) => (error === null ? resolve(api as never) : reject(error)));
      }),
    close: () => hangUp(admin.connections),
  };
}

/** A new pool of connections to these brokers. */
export const connectionPool = ({ clientId, ...options }: BaseOptions): ConnectionPool =>
  surviveErrors(new ConnectionPool(clientId, options));

/** Listens for the errors of each connection: the client does not for all of them, and one without a listener ends the process. */
export const surviveErrors = (pool: ConnectionPool): ConnectionPool =>
  pool.on('connecting', ({ connection }) => void connection.on('error', () => {}));

/** Ends every connection at once; requests that wait reject. */
export function hangUp(pool: ConnectionPool): void {
  for (const [, connection] of pool) connection.socket?.destroy();
  pool.close(() => {});
}
