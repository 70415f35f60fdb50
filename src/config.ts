import { isIP } from 'node:net';
import { PROTECT_RULE, protectedWord } from './account/guard-rails.ts';
import { LIMITS } from './signal/limits.ts';

/** The parts of the service that a process may run. */
export const ROLES = ['signals', 'consumer', 'feeds', 'manage'] as const;
export type Role = (typeof ROLES)[number];

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** The settings of a process, checked and frozen. Durations say their unit. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  readonly metricsToken: string | undefined;
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
  readonly tlsClientCaFile: string | undefined;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly kafkaBrokers: readonly string[] | undefined;
  readonly kafkaTopic: string;
  readonly kafkaGroup: string | undefined;
  readonly kafkaPartitions: number;
  readonly kafkaReplication: number | undefined;
  readonly kafkaTls: boolean;
  readonly kafkaCaFile: string | undefined;
  readonly kafkaCertFile: string | undefined;
  readonly kafkaKeyFile: string | undefined;
  readonly kafkaSaslMechanism: (typeof SASL_MECHANISMS)[number] | undefined;
  readonly kafkaSaslUsername: string | undefined;
  readonly kafkaSaslPassword: string | undefined;
  readonly roles: readonly Role[];
  readonly bootstrapApiKey: string | undefined;
  readonly feedRebuildSeconds: number;
  readonly feedCacheMb: number;
  readonly geoCountryFile: string | undefined;
  readonly geoAsnFile: string | undefined;
  readonly geoUpdateHours: number | undefined;
  readonly geoUpdateUrl: string;
  readonly schemesFile: string | undefined;
  readonly rateLimitSignals: number;
  readonly rateLimitEntries: number;
  readonly maxRules: number;
  readonly maxLists: number;
  readonly maxFeeds: number;
  readonly maxKeys: number;
  readonly maxAuditMb: number;
  readonly maxAnswersMb: number;
  /** Networks in their canonical form, and names of sets. */
  readonly protectedNetworks: readonly string[];
  readonly minPrefixV4: number;
  readonly minPrefixV6: number;
  readonly rateLimitFeeds: number;
  readonly rateLimitManage: number;
  readonly bodyBudgetMb: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly trustProxy: readonly string[];
  readonly baseUrl: string | undefined;
  readonly console: boolean;
  readonly accessLog: boolean;
  readonly otelEndpoint: string | undefined;
  readonly logLevel: string;
  readonly drainSeconds: number;
  readonly streamRetentionHours: number;
  readonly streamRetentionMb: number;
}

/** Reads one value; throws an error whose message says what is allowed. */
type Parse<T> = (text: string) => T;

/**
 * One setting: its variable, its default as text (undefined = unset), how it is read, and what it means, which docs/settings.md
 * repeats.
 */
interface Setting<T> {
  readonly variable: string;
  readonly fallback: string | undefined;
  readonly parse: Parse<T>;
  readonly meaning: string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

const text: Parse<string> = (value) => value;

const integer =
  (least: number, most: number): Parse<number> =>
  (value) => {
    const number = Number(value);
    if (!/^\d{1,10}$/.test(value) || number < least || number > most) throw new Error(`must be a whole number from ${least} to ${most}`);
    return number;
  };

const oneOf =
  <T extends string>(allowed: readonly T[]): Parse<T> =>
  (value) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new Error(`must be one of: ${allowed.join(', ')}`);
    return found;
  };

const onOff: Parse<boolean> = (value) => oneOf(['on', 'off'])(value) === 'on';

const commaList =
  <T>(item: Parse<T>): Parse<readonly T[]> =>
  (value) =>
    value.split(',').map((part) => item(part.trim()));

const url =
  (protocols: readonly string[]): Parse<string> =>
  (value) => {
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new Error(`must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return value;
  };

const folderUrl: Parse<string> = (value) => {
  const { username, search, hash } = new URL(url(['http:', 'https:'])(value));
  if (username + search + hash !== '') throw new Error('must be an address without user, query and fragment');
  return value.replace(/\/+$/, '');
};

const broker: Parse<string> = (value) => {
  const port = Number(value.slice(value.lastIndexOf(':') + 1));
  if (!/^(\[[0-9a-fA-F:]+\]|[^\s:,[\]]+):\d{1,5}$/.test(value) || port < 1 || port > 65535) {
    throw new Error('must be a list of host:port, separated by commas');
  }
  return value;
};

const cidr: Parse<string> = (value) => {
  const [address, prefix, more] = value.split('/');
  const family = isIP(address);
  const fits = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
  if (family === 0 || !fits || more !== undefined)
    throw new Error('must be a list of addresses or networks such as 10.0.0.0/8, separated by commas');
  return value;
};

const protectedNetwork: Parse<string> = (value) => {
  const word = protectedWord(value);
  if (word === undefined) throw new Error(`must be ${PROTECT_RULE}`);
  return word;
};

const secret =
  (least: number): Parse<string> =>
  (value) => {
    if (!/^[\x21-\x7e]{1,64}$/.test(value) || value.length < least) {
      throw new Error(`must be ${least} to 64 visible ASCII characters without blanks`);
    }
    return value;
  };

const roles: Parse<readonly Role[]> = (value) => {
  const given = value.split(',').map((part) => part.trim());
  if (given.some((role) => !ROLES.includes(role as Role))) throw new Error(`must be a list of: ${ROLES.join(', ')}`);
  return ROLES.filter((role) => given.includes(role));
};

/** Every setting, in the order in which docs and errors list them. */
export const SETTINGS: { readonly [K in keyof Config]: Setting<NonNullable<Config[K]>> } = {
  host: { variable: 'HOST', fallback: '127.0.0.1', parse: text, meaning: 'address to listen on' },
  port: {
    variable: 'PORT',
    fallback: '8080',
    parse: integer(0, 65535),
    meaning: 'port to listen on; 0 picks a free one, named in the ready line',
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    fallback: undefined,
    parse: integer(0, 65535),
    meaning: 'port that serves /metrics and nothing else; 0 picks a free one, named in the log; none when unset',
  },
  metricsHost: { variable: 'METRICS_HOST', fallback: '127.0.0.1', parse: text, meaning: 'address to listen on for METRICS_PORT' },
  metricsToken: {
    variable: 'METRICS_TOKEN',
    fallback: undefined,
    parse: secret(16),
    meaning: 'with it /metrics is served on PORT too, and asks for it as Bearer token on both; 16 to 64 visible ASCII characters',
  },
  tlsCertFile: {
    variable: 'TLS_CERT_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'PEM file of the certificate of the service, and of those between it and the root; with it PORT speaks TLS only',
  },
  tlsKeyFile: {
    variable: 'TLS_KEY_FILE',
    fallback: undefined,
    parse: text,
    meaning: "PEM file of the certificate's key, without a passphrase",
  },
  tlsClientCaFile: {
    variable: 'TLS_CLIENT_CA_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'PEM file of the authorities whose certificates clients have to show, beside their key',
  },
  dataDir: {
    variable: 'DATA_DIR',
    fallback: './data',
    parse: text,
    meaning: 'folder of the embedded store and stream, made with mode 0700',
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    fallback: undefined,
    parse: url(['postgres:', 'postgresql:']),
    meaning: 'postgres://… puts the store into PostgreSQL',
  },
  kafkaBrokers: {
    variable: 'KAFKA_BROKERS',
    fallback: undefined,
    parse: commaList(broker),
    meaning: 'host:port list, separated by commas, puts the stream into Kafka',
  },
  kafkaTopic: {
    variable: 'KAFKA_TOPIC',
    fallback: 'signals',
    parse: (value) => {
      if (!/^[A-Za-z0-9._-]{1,249}$/.test(value)) throw new Error('must be 1 to 249 letters, digits, dots, underscores or hyphens');
      return value;
    },
    meaning: 'topic of the stream',
  },
  kafkaGroup: {
    variable: 'KAFKA_GROUP',
    fallback: undefined,
    parse: text,
    meaning: 'consumer group; weir- and the topic when unset',
  },
  kafkaPartitions: {
    variable: 'KAFKA_PARTITIONS',
    fallback: '12',
    parse: integer(1, 10_000),
    meaning: 'partitions of a topic that is made',
  },
  kafkaReplication: {
    variable: 'KAFKA_REPLICATION',
    fallback: undefined,
    parse: integer(1, 100),
    meaning: "replicas of a topic that is made; the brokers' default when unset",
  },
  kafkaTls: { variable: 'KAFKA_TLS', fallback: 'off', parse: onOff, meaning: 'on: connections to Kafka use TLS' },
  kafkaCaFile: {
    variable: 'KAFKA_CA_FILE',
    fallback: undefined,
    parse: text,
    meaning: "PEM file of the authority that has signed the brokers' certificates; the well-known ones when unset",
  },
  kafkaCertFile: {
    variable: 'KAFKA_CERT_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'PEM file of the client certificate, where the brokers ask for one',
  },
  kafkaKeyFile: { variable: 'KAFKA_KEY_FILE', fallback: undefined, parse: text, meaning: "PEM file of the client certificate's key" },
  kafkaSaslMechanism: {
    variable: 'KAFKA_SASL_MECHANISM',
    fallback: undefined,
    parse: oneOf(SASL_MECHANISMS),
    meaning: `how weir proves who it is, one of ${SASL_MECHANISMS.join(', ')}`,
  },
  kafkaSaslUsername: { variable: 'KAFKA_SASL_USERNAME', fallback: undefined, parse: text, meaning: 'user name for SASL' },
  kafkaSaslPassword: { variable: 'KAFKA_SASL_PASSWORD', fallback: undefined, parse: text, meaning: 'password for SASL' },
  roles: { variable: 'ROLES', fallback: ROLES.join(','), parse: roles, meaning: 'which parts this process runs, any subset' },
  bootstrapApiKey: {
    variable: 'BOOTSTRAP_API_KEY',
    fallback: undefined,
    parse: secret(8),
    meaning: 'this key exists with all permissions in the workspace default; 8 to 64 visible ASCII characters',
  },
  feedRebuildSeconds: {
    variable: 'FEED_REBUILD_SECONDS',
    fallback: '30',
    parse: integer(0, 3600),
    meaning: 'a feed is read from the store at most once in this time; 0 reads it for every request (tests, benchmarks)',
  },
  feedCacheMb: {
    variable: 'FEED_CACHE_MB',
    fallback: '256',
    parse: integer(0, 1_048_576),
    meaning: 'rendered feed bodies kept in memory, MiB',
  },
  geoCountryFile: {
    variable: 'GEO_COUNTRY_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'your own CSV or MMDB file of country ranges instead of the packaged data',
  },
  geoAsnFile: {
    variable: 'GEO_ASN_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'your own CSV or MMDB file of ASN ranges instead of the packaged data',
  },
  geoUpdateHours: {
    variable: 'GEO_UPDATE_HOURS',
    fallback: undefined,
    parse: integer(1, 8760),
    meaning: 'how often `weir geo update` runs by itself; never when unset',
  },
  geoUpdateUrl: {
    variable: 'GEO_UPDATE_URL',
    fallback: 'https://github.com/sapics/ip-location-db/releases/download/latest',
    parse: folderUrl,
    meaning: 'address of the folder that `weir geo update` fetches its files from',
  },
  schemesFile: {
    variable: 'SCHEMES_FILE',
    fallback: undefined,
    parse: text,
    meaning: 'JSON file that adds or replaces expression fields and functions per kind of rule',
  },
  rateLimitSignals: {
    variable: 'RATE_LIMIT_SIGNALS',
    fallback: '6000',
    parse: integer(0, 1_000_000_000),
    meaning: 'signal requests per key and minute in this process; 0 = no limit',
  },
  rateLimitEntries: {
    variable: 'RATE_LIMIT_ENTRIES',
    fallback: '600000',
    parse: (value) => (value === '0' ? 0 : integer(LIMITS.batchEntries, 1_000_000_000)(value)),
    meaning: `entries of signals per key and minute in this process, at least ${LIMITS.batchEntries}; 0 = no limit`,
  },
  maxRules: {
    variable: 'MAX_RULES',
    fallback: '2000000',
    parse: integer(0, 1_000_000_000),
    meaning: 'rules of a workspace, lapsed ones included for the 7 days that they are kept; beyond it upserts are refused; 0 = no limit',
  },
  maxLists: {
    variable: 'MAX_LISTS',
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
    meaning: 'lists of a workspace; `weir list create` refuses one more; 0 = no limit',
  },
  maxFeeds: {
    variable: 'MAX_FEEDS',
    fallback: '1000',
    parse: integer(0, 1_000_000_000),
    meaning: 'feeds made of lists of a workspace; making one more is refused; 0 = no limit',
  },
  maxKeys: {
    variable: 'MAX_KEYS',
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
    meaning:
      'keys of a workspace; making one more forgets the one that was revoked or expired longest ago, and is refused where there is none; 0 = no limit',
  },
  maxAuditMb: {
    variable: 'MAX_AUDIT_MB',
    fallback: '256',
    parse: integer(0, 1_000_000),
    meaning:
      'audit log of a workspace, MiB; from half of it on rows are kept for 7 days instead of 90, and beyond it keys change nothing but delete and revoke; 0 = no limit',
  },
  maxAnswersMb: {
    variable: 'MAX_ANSWERS_MB',
    fallback: '64',
    parse: integer(0, 1_000_000),
    meaning:
      'answers to requests with an `Idempotency-Key` that are kept for a day, of a workspace, MiB; beyond it such requests are refused; 0 = no limit',
  },
  protectedNetworks: {
    variable: 'PROTECTED_NETWORKS',
    fallback: undefined,
    parse: commaList(protectedNetwork),
    meaning:
      'networks that no block may reach, and the names `private`, `special`, `self` ([which they are](deployment.md#guard-rails)), separated by commas',
  },
  minPrefixV4: {
    variable: 'MIN_PREFIX_V4',
    fallback: '0',
    parse: integer(0, 32),
    meaning: 'shortest prefix of an IPv4 network that may be blocked; 0 = any',
  },
  minPrefixV6: {
    variable: 'MIN_PREFIX_V6',
    fallback: '0',
    parse: integer(0, 128),
    meaning: 'shortest prefix of an IPv6 network that may be blocked; 0 = any',
  },
  rateLimitFeeds: {
    variable: 'RATE_LIMIT_FEEDS',
    fallback: '6000',
    parse: integer(0, 1_000_000_000),
    meaning: 'feed requests per key and minute in this process; 0 = no limit',
  },
  rateLimitManage: {
    variable: 'RATE_LIMIT_MANAGE',
    fallback: '600',
    parse: integer(0, 1_000_000_000),
    meaning: 'management requests per key and minute in this process; 0 = no limit',
  },
  bodyBudgetMb: {
    variable: 'BODY_BUDGET_MB',
    fallback: '256',
    parse: integer(LIMITS.batchBytes / 1024 / 1024, 1_048_576),
    meaning:
      'request bodies that are held in memory at one time, MiB; one key may hold an eighth, all keys of a workspace a half, but always one whole body',
  },
  maxConnections: {
    variable: 'MAX_CONNECTIONS',
    fallback: '10000',
    parse: integer(1, 1_000_000),
    meaning: 'open connections of this process; further ones are closed at once',
  },
  maxConnectionsPerAddress: {
    variable: 'MAX_CONNECTIONS_PER_ADDRESS',
    fallback: '1000',
    parse: integer(1, 1_000_000),
    meaning: 'the same for one address (IPv6: one /64); this machine and the proxies of TRUST_PROXY have no such limit',
  },
  trustProxy: {
    variable: 'TRUST_PROXY',
    fallback: undefined,
    parse: commaList(cidr),
    meaning: 'networks of proxies whose forwarded headers count',
  },
  baseUrl: {
    variable: 'BASE_URL',
    fallback: undefined,
    parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, ''),
    meaning: 'address under which clients reach the service, for the API documentation; derived when unset',
  },
  console: {
    variable: 'CONSOLE',
    fallback: 'on',
    parse: onOff,
    meaning: 'on: the role manage serves the web console at /console/ too',
  },
  accessLog: {
    variable: 'ACCESS_LOG',
    fallback: '0',
    parse: (value) => oneOf(['0', '1'])(value) === '1',
    meaning: '1: a line of the log for each request, and an `X-Request-Id` in each answer',
  },
  otelEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: undefined,
    parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, ''),
    meaning: 'address of an OpenTelemetry collector that takes traces over HTTP, such as `http://127.0.0.1:4318`; no traces when unset',
  },
  logLevel: { variable: 'LOG_LEVEL', fallback: 'info', parse: oneOf(LOG_LEVELS), meaning: `one of ${LOG_LEVELS.join(', ')}` },
  drainSeconds: {
    variable: 'DRAIN_SECONDS',
    fallback: '0',
    parse: integer(0, 3600),
    meaning: 'how long requests are still served after SIGTERM while /readyz answers 503',
  },
  streamRetentionHours: {
    variable: 'STREAM_RETENTION_HOURS',
    fallback: '168',
    parse: integer(1, 87_600),
    meaning: 'how long landed messages of the embedded stream are kept, and all messages of a Kafka topic that is made',
  },
  streamRetentionMb: {
    variable: 'STREAM_RETENTION_MB',
    fallback: '8192',
    parse: integer(0, 100_000_000),
    meaning: 'landed messages of the embedded stream, MiB; beyond it the oldest go before their time; 0 = no limit',
  },
};

/** What a setting without value and default is, where that is not undefined. */
const EMPTY: Partial<Record<keyof Config, unknown>> = { trustProxy: [], protectedNetworks: [] };

/** Settings whose values no fault repeats. */
const SECRETS: readonly (keyof Config)[] = ['bootstrapApiKey', 'metricsToken', 'databaseUrl', 'geoUpdateUrl'];

/** Settings that need another: when the first is set, the second must be set too. */
const NEEDS: readonly [given: keyof Config, needed: keyof Config][] = [
  ['metricsHost', 'metricsPort'],
  ['tlsCertFile', 'tlsKeyFile'],
  ['tlsKeyFile', 'tlsCertFile'],
  ['tlsClientCaFile', 'tlsCertFile'],
  ['kafkaGroup', 'kafkaBrokers'],
  ['kafkaTls', 'kafkaBrokers'],
  ['kafkaSaslMechanism', 'kafkaBrokers'],
  ['kafkaCaFile', 'kafkaTls'],
  ['kafkaCertFile', 'kafkaTls'],
  ['kafkaCertFile', 'kafkaKeyFile'],
  ['kafkaKeyFile', 'kafkaCertFile'],
  ['kafkaSaslMechanism', 'kafkaSaslUsername'],
  ['kafkaSaslMechanism', 'kafkaSaslPassword'],
  ['kafkaSaslUsername', 'kafkaSaslMechanism'],
  ['kafkaSaslPassword', 'kafkaSaslMechanism'],
];

/**
 * Reads and checks the environment; an empty variable counts as unset. Returns either the configuration or all its faults, one
 * readable line each.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): { config: Config } | { faults: string[] } {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { variable, fallback, parse }] of Object.entries(SETTINGS) as [keyof Config, Setting<unknown>][]) {
    const value = environment[variable] || fallback;
    if (value === undefined) {
      config[name] = EMPTY[name];
      continue;
    }
    try {
      config[name] = parse(value);
    } catch (error) {
      // As JSON, so that the CR of a file with Windows line ends is seen.
      const shown = SECRETS.includes(name) ? '' : `, not ${JSON.stringify(value)}`;
      faults.push(`${variable} ${(error as Error).message}${shown}`);
    }
  }
  const isSet = (name: keyof Config) => !['', 'off', undefined].includes(environment[SETTINGS[name].variable]);
  for (const [given, needed] of NEEDS) {
    if (isSet(given) && !isSet(needed)) faults.push(`${SETTINGS[needed].variable} must be set, because ${SETTINGS[given].variable} is`);
  }
  return faults.length > 0 ? { faults } : { config: Object.freeze(config) as unknown as Config };
}
