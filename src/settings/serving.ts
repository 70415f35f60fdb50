import {
  broker,
  type Config,
  commaList,
  integer,
  oneOf,
  onOff,
  ROLES,
  roles,
  SASL_MECHANISMS,
  type Setting,
  secret,
  text,
  url,
} from './setting.ts';

type Rows = { readonly [K in keyof Config]: Setting<NonNullable<Config[K]>> };

export const SERVING = {
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
} as const satisfies Partial<Rows>;
