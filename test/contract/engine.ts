/** The pairs of engines that the contract suites run on, and the frame of such a suite. */
import { after, before, suite, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { kafkaForTests, noKafkaAtAll } from '../support/kafka.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

export interface Engine {
  readonly name: string;
  /** Why it cannot run here, or false. */
  readonly skip: string | false;
  open(): Promise<OpenEngine>;
}

interface OpenEngine {
  /** Settings that choose the engine. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const EMBEDDED: Engine = {
  name: 'the embedded engine',
  skip: false,
  open: async () => ({ settings: {}, stop: async () => {} }),
};

/** Defines a test of what is read, judged, made or answered before or behind the engines: one pair of them shows it. */
export type Once = (title: string, run: (t: TestContext) => Promise<void>) => void;

let topics = 0;
export const postgresAndKafka = (): Engine => ({
  name: 'PostgreSQL and Kafka',
  skip: noPostgres() || noKafkaAtAll(),
  async open() {
    const [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
    const database = await postgres.createDatabase();
    topics += 1;
    return {
      settings: { DATABASE_URL: database, KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC: `signals-${process.pid}-${topics}` },
      stop: async () => {
        await Promise.all([postgres.stop(), kafka.stop()]);
      },
    };
  },
});

/** A suite on an engine, over servers that are started before its tests and stopped after them. */
export function contractSuite<World extends { stop(): Promise<void> }>(
  title: string,
  { name, skip, open }: Engine,
  start: (settings: Readonly<Record<string, string>>, folder: string) => Promise<World>,
  tests: (world: () => World, once: Once) => void,
): void {
  // Its tests run one by one, also where suites run side by side: one of them kills the server.
  suite(`${title} on ${name}`, { skip, timeout: 600_000, concurrency: 1 }, () => {
    let engine: OpenEngine;
    let world: World;
    const cleanup: (() => void)[] = [];

    before(async () => {
      engine = await open();
      world = await start(engine.settings, temporaryFolder({ after: (work) => cleanup.push(work) }));
    });
    after(async () => {
      await world?.stop();
      for (const work of cleanup) work();
      await engine?.stop();
    });
    tests(() => world, name === EMBEDDED.name ? test : () => {});
  });
}
