import { Admin, type API, type BaseOptions, type Connection, ConnectionPool, kGetApi } from '@platformatic/kafka';
import { type KafkaOptions, security } from './options.ts';

/** Timeout, ms; then it is retried over a new connection. */
const REQUEST_TIMEOUT = 3000;

/** Of one topic: its metadata, and connections to the leaders of its partitions. */
export interface Cluster {
  readonly topic: string;
  readonly admin: Admin;
  /** For more clients and connections. */
  readonly connecting: BaseOptions;
  /** `fresh` asks the brokers; otherwise the answer may be 5 s old. */
  describe(fresh: boolean): Promise<{ id: string; partitions: number; leaderless: number[] }>;
  partitions(): number;
  /** After a failed request: leaders may have moved. */
  doubt(): void;
  /** From `pool`. */
  leader(partition: number, pool?: ConnectionPool): Promise<Connection>;
  /** A connection to any broker. */
  anyone(): Promise<Connection>;
  /** In the newest version that both sides support. */
  request<Arguments extends unknown[], Response>(name: string): Promise<API<Arguments, Response>>;
  close(): void;
}

/** Connections are opened on demand. */
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

export const connectionPool = ({ clientId, ...options }: BaseOptions): ConnectionPool =>
  surviveErrors(new ConnectionPool(clientId, options));

/** The client does not listen for all errors, and an unhandled one ends the process. */
export const surviveErrors = (pool: ConnectionPool): ConnectionPool =>
  pool.on('connecting', ({ connection }) => void connection.on('error', () => {}));

/** Waiting requests reject. */
export function hangUp(pool: ConnectionPool): void {
  for (const [, connection] of pool) connection.socket?.destroy();
  pool.close(() => {});
}
