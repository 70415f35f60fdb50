import { Admin, type API, type BaseOptions, type Connection, ConnectionPool, kGetApi } from '@platformatic/kafka';
import { type KafkaOptions, security } from './options.ts';

/** A broker that has not answered a request in this time, ms, is asked again over a new connection. */
const REQUEST_TIMEOUT = 3000;

/** The brokers as one topic's client sees them: its metadata and requests to the leaders of its partitions. */
export interface Cluster {
  readonly topic: string;
  readonly admin: Admin;
  /** Options for further clients and connections to the same brokers. */
  readonly connecting: BaseOptions;
  /** The topic's id and number of partitions; `fresh` asks the brokers, otherwise the answer may be 5 s old. */
  describe(fresh: boolean): Promise<{ id: string; partitions: number }>;
  /** Number of partitions as last heard. */
  partitions(): number;
  /** Call after a failed request: leaders may have moved. */
  doubt(): void;
  /** A connection to the leader of a partition, out of `pool`. */
  leader(partition: number, pool?: ConnectionPool): Promise<Connection>;
  /** A connection to any broker. */
  anyone(): Promise<Connection>;
  /** The newest version of a request that both sides know. */
  request<Arguments extends unknown[], Response>(name: string): Promise<API<Arguments, Response>>;
  close(): void;
}

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
      const { id, partitionsCount } = await metadata(fresh);
      return { id, partitions: partitionsCount };
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

/** A pool of connections of its own. */
export function connectionPool({ clientId, ...options }: BaseOptions): ConnectionPool {
  return surviveErrors(new ConnectionPool(clientId, options));
}

/** A connection may report more errors than the client listens for; one without a listener would end the process. */
export function surviveErrors(pool: ConnectionPool): ConnectionPool {
  return pool.on('connecting', ({ connection }) => void connection.on('error', () => {}));
}

/** Ends every connection at once; requests that wait reject. */
export function hangUp(pool: ConnectionPool): void {
  for (const [, connection] of pool) connection.socket?.destroy();
  pool.close(() => {});
}
