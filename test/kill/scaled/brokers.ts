/** Three Kafka brokers, each a controller as well, and links before all that they listen on. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { javaForKafka, kafkaJars } from '../../support/kafka.ts';
import { type Link, openLink, together } from '../links.ts';
import { lastingPort } from '../ports.ts';
import { type Kept, keep } from '../world.ts';

export const BROKERS: readonly number[] = [1, 2, 3];

/** Times that decide how long a broker may be away before others take over, ms. */
export interface Times {
  readonly 'broker.session.timeout.ms': number;
  readonly 'broker.heartbeat.interval.ms': number;
  readonly 'replica.lag.time.max.ms': number;
}

/** What Kafka does by itself. */
export const DEFAULT_TIMES: Times = {
  'broker.session.timeout.ms': 9000,
  'broker.heartbeat.interval.ms': 2000,
  'replica.lag.time.max.ms': 30_000,
};

export interface Brokers {
  /** By the broker's number. */
  readonly kept: ReadonlyMap<number, Kept>;
  /** By client, from it to each broker. */
  readonly links: ReadonlyMap<string, readonly Link[]>;
  /** From the other brokers to each. */
  readonly inside: readonly Link[];
  /** Where a client finds them. */
  addresses(client: string): string;
  stop(): Promise<void>;
}

/** Starts them with their data below `folder`; each of `clients` has a listener of its own, so that it may lose one broker alone. */
export async function startBrokers(folder: string, clients: readonly string[], times: Times): Promise<Brokers> {
  const java = javaForKafka(await kafkaJars());
  const names = [...clients.map((client) => client.toUpperCase()), 'INSIDE', 'CONTROLLER'];
  /** By broker, of each listener: where it listens, and the link that leads there. */
  const doors = new Map(
    await Promise.all(
      BROKERS.map(async (broker) => {
        const each = new Map<string, { readonly port: number; readonly link: Link }>();
        for (const name of names) {
          const port = await lastingPort();
          each.set(name, { port, link: await openLink(port) });
        }
        return [broker, each] as const;
      }),
    ),
  );
  const door = (broker: number, name: string) => doors.get(broker)!.get(name)!;
  const voters = BROKERS.map((broker) => `${broker}@127.0.0.1:${door(broker, 'CONTROLLER').link.port}`).join(',');
  const [cluster, kept] = [randomBytes(16).toString('base64url'), new Map<number, Kept>()];
  await Promise.all(
    BROKERS.map(async (broker) => {
      const [home, listeners] = [join(folder, `broker-${broker}`), [...doors.get(broker)!]];
      mkdirSync(home);
      const properties = {
        'process.roles': 'broker,controller',
        'node.id': broker,
        'controller.quorum.voters': voters,
        'controller.listener.names': 'CONTROLLER',
        'inter.broker.listener.name': 'INSIDE',
        listeners: listeners.map(([name, { port }]) => `${name}://127.0.0.1:${port}`).join(),
        'advertised.listeners': listeners
          .filter(([name]) => name !== 'CONTROLLER')
          .map(([name, { link }]) => `${name}://127.0.0.1:${link.port}`)
          .join(),
        'listener.security.protocol.map': names.map((name) => `${name}:PLAINTEXT`).join(),
        'log.dirs': join(home, 'logs'),
        ...{ 'default.replication.factor': 3, 'min.insync.replicas': 2, 'auto.create.topics.enable': false },
        ...{ 'offsets.topic.replication.factor': 3, 'offsets.topic.num.partitions': 1, 'group.initial.rebalance.delay.ms': 0 },
        ...{ 'transaction.state.log.replication.factor': 3, 'transaction.state.log.num.partitions': 1 },
        ...{ 'log.cleaner.dedupe.buffer.size': 4_194_304, 'num.network.threads': 1, 'num.io.threads': 4 },
        ...times,
      };
      const file = join(home, 'server.properties');
      const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(file, lines.join(''));
      const format = [...java, 'kafka.tools.StorageTool', 'format', '--config', file, `--cluster-id=${cluster}`];
      await promisify(execFile)('java', format);
      const begin = () => spawn('java', [...java, '-Xmx256m', 'kafka.Kafka', file], { stdio: ['ignore', 'pipe', 'pipe'] });
      // One that comes back before its session is over may end once more.
      kept.set(broker, keep({ name: `broker ${broker}`, begin, ready: '\n', mayEnd: () => true }, []));
    }),
  );
  return {
    kept,
    links: new Map(clients.map((client) => [client, BROKERS.map((broker) => door(broker, client.toUpperCase()).link)])),
    inside: BROKERS.map((broker) => together(['INSIDE', 'CONTROLLER'].map((name) => door(broker, name).link))),
    addresses: (client) => BROKERS.map((broker) => `127.0.0.1:${door(broker, client.toUpperCase()).link.port}`).join(),
    async stop() {
      await Promise.all([...kept.values()].map((each) => each.stop()));
      await Promise.all([...doors.values()].flatMap((each) => [...each.values()].map(({ link }) => link.close())));
    },
  };
}
