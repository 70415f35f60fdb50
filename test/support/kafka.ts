/** A real Kafka broker for tests: Apache Kafka's jars by Maven, one KRaft node, free ports, a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeAuthority, makeCertificate } from './certificates.ts';
import { freePort } from './http.ts';
import { again, needs } from './programs.ts';
import { suspend } from './suspend.ts';

const POM = fileURLToPath(new URL('kafka/pom.xml', import.meta.url));
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));
const JAVA = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];
const START = 180_000;
/** The file of the classes that a broker loads, beside the jars. */
const CLASSES = 'classes.jsa';

const GIVEN = process.env.TEST_KAFKA_BROKERS;

/** Why no broker can be started here, in one line, or false. */
export const noKafka = () => needs('java', 'mvn', 'openssl');
/** The same where brokers that are there already will do. */
export const noKafkaAtAll = () => (GIVEN ? false : noKafka());

/** The user of the listeners with SASL. */
export const KAFKA_USER = { username: 'weir', password: 'correct-horse' };

export interface KafkaBroker {
  /** host:port without encryption, where everybody may do everything. */
  readonly brokers: string[];
  /** With `secured`: SASL over TLS (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512), and TLS with a client certificate. */
  readonly saslBrokers: string[];
  readonly tlsBrokers: string[];
  /** With `secured`: PEM files; `cert` and `key` belong to User:CN=weir. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly pid: number;
  /** Ends the process without notice. */
  kill(): Promise<void>;
  /** Starts it again, same ports, same folder. */
  start(): Promise<void>;
  /** Stops it in its tracks, connections open; `resume` lets it go on. */
  pause(): void;
  resume(): void;
  /** Ends it for good and removes its folder. */
  stop(): Promise<void>;
}

/** Brokers to test with: those of TEST_KAFKA_BROKERS, or one that is started here. */
export async function kafkaForTests(): Promise<{ brokers: string[]; stop(): Promise<void> }> {
  return GIVEN ? { brokers: GIVEN.split(','), stop: async () => {} } : startKafka({ lasts: true });
}

/**
 * Starts a broker; `secured` adds the listeners with TLS and an authorizer that lets their users do nothing until they are allowed to. One that
 * `lasts` is never killed: it goes on serving where a busy machine delays its heartbeats.
 */
export async function startKafka({ secured = false, lasts = false } = {}): Promise<KafkaBroker> {
  const jars = await kafkaJars();
  return startBroker(jars, { secured, lasts, options: [`-XX:SharedArchiveFile=${join(jars, CLASSES)}`] });
}

/** What Java is told for a broker: its jars, and their classes as they were loaded before. */
export const javaForKafka = (jars: string): string[] => [...JAVA, `-XX:SharedArchiveFile=${join(jars, CLASSES)}`, '-cp', `${jars}/*`];

/** Starts a broker of these jars with more options for Java. */
async function startBroker(
  jars: string,
  { secured, lasts, options }: { readonly secured: boolean; readonly lasts: boolean; readonly options: string[] },
) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-kafka-'));
  const [plain, controller, sasl, tls] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const files = { ca: join(folder, 'ca.pem'), cert: join(folder, 'client.pem'), key: join(folder, 'client.key') };
  if (secured) await makeCertificates(folder);
  const properties = join(folder, 'server.properties');
  writeFileSync(
    properties,
    propertiesText({ folder, lasts, plain, controller, sasl: secured ? sasl : undefined, tls: secured ? tls : undefined }),
  );
  const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map((each) => `${each}=[name=${KAFKA_USER.username},password=${KAFKA_USER.password}]`);
  await java(jars, options, 'kafka.tools.StorageTool', [
    ...['format', '--config', properties, `--cluster-id=${randomBytes(16).toString('base64url')}`],
    ...(secured ? scram.flatMap((each) => ['--add-scram', each]) : []),
  ]);

  let child: ChildProcess;
  let ended: Promise<unknown>;
  const end = async (signal: NodeJS.Signals) => {
    process.off('exit', killNow);
    child.kill(signal);
    await ended;
  };
  const killNow = () => child.kill('SIGKILL');
  const log = join(folder, 'broker.log');

  async function start(): Promise<void> {
    const output = openSync(log, 'a');
    child = spawn('java', [...JAVA, ...options, '-cp', `${jars}/*`, 'kafka.Kafka', properties], { stdio: ['ignore', output, output] });
    ended = new Promise((resolve) => child.on('exit', resolve));
    process.on('exit', killNow);
    for (const deadline = Date.now() + START; !(await answers(plain)); ) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the Kafka broker has not started:\n${readFileSync(log)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  await start();
  return {
    brokers: [`127.0.0.1:${plain}`],
    saslBrokers: [`localhost:${sasl}`],
    tlsBrokers: [`localhost:${tls}`],
    files,
    get pid() {
      return child.pid!;
    },
    kill: () => end('SIGKILL'),
    start,
    pause: () => suspend(child.pid!),
    resume: () => void child.kill('SIGCONT'),
    async stop(signal: NodeJS.Signals = 'SIGKILL') {
      await end(signal);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Layout {
  readonly folder: string;
  readonly lasts: boolean;
  readonly plain: number;
  readonly controller: number;
  readonly sasl: number | undefined;
  readonly tls: number | undefined;
}

function propertiesText({ folder, lasts, plain, controller, sasl, tls }: Layout): string {
  const listeners = [`PLAINTEXT://127.0.0.1:${plain}`, `CONTROLLER://127.0.0.1:${controller}`];
  const properties: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL',
    // A broker that was killed may come back when its session has ended; one whose heartbeats are late loses its partitions then.
    'broker.session.timeout.ms': lasts ? 60_000 : 3000,
    'broker.heartbeat.interval.ms': 200,
    'log.dirs': join(folder, 'logs'),
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': 'false',
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    'num.network.threads': 1,
    'num.io.threads': 4,
  };
  if (sasl !== undefined) {
    listeners.push(`SASL_SSL://localhost:${sasl}`, `SSL://localhost:${tls}`);
    Object.assign(properties, {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      'listener.name.sasl_ssl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${KAFKA_USER.username}="${KAFKA_USER.password}";`,
      'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      'listener.name.ssl.ssl.client.auth': 'required',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': join(folder, 'broker.pem'),
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': join(folder, 'ca.pem'),
    });
  }
  properties.listeners = listeners.join(',');
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** An authority, the broker's certificate for localhost, a client's for CN=weir. */
async function makeCertificates(folder: string): Promise<void> {
  await makeAuthority(folder);
  await makeCertificate(folder, 'broker', '/CN=localhost', 'subjectAltName=DNS:localhost');
  await makeCertificate(folder, 'client', '/CN=weir', 'extendedKeyUsage=clientAuth');
  writeFileSync(join(folder, 'broker.pem'), ['broker.key', 'broker.pem'].map((name) => readFileSync(join(folder, name))).join(''));
}

/** The folder with the jars, which Maven fills once, and with their classes as Java has loaded them. */
export async function kafkaJars(): Promise<string> {
  const folder = join(CACHE, `kafka-${createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) await fetchJars(folder);
  if (!existsSync(join(folder, CLASSES))) await keepClasses(folder);
  return folder;
}

async function fetchJars(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, 'kafka-jars-'));
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fresh}`];
  await again(() => promisify(execFile)('mvn', ['-q', '-B', '-f', POM, ...goal]));
  try {
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** Writes the classes that a broker loads as Java maps them at its start: it then takes a third of the time. Another Java ignores them. */
async function keepClasses(jars: string): Promise<void> {
  const written = join(jars, `${CLASSES}.${process.pid}`);
  const broker = await startBroker(jars, { secured: false, lasts: true, options: [`-XX:ArchiveClassesAtExit=${written}`] });
  await broker.stop('SIGTERM');
  // The jars alone, as in a Java that keeps no classes, do as well.
  if (existsSync(written)) renameSync(written, join(jars, CLASSES));
}

async function java(jars: string, options: readonly string[], main: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)('java', [...JAVA, ...options, '-cp', `${jars}/*`, main, ...args]);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
