import { postgresHosts } from '../postgres-hosts.ts';
import {
  broker,
  commaList,
  duration,
  integer,
  oneOf,
  onOff,
  ROLES,
  roles,
  SASL_MECHANISMS,
  type Setting,
  secret,
  text,
} from './setting.ts';

export const SERVING = {
  host: { fallback: '127.0.0.1', parse: text, meaning: 'address to listen on' },
  port: { fallback: '8080', parse: integer(0, 65535), meaning: 'port to listen on; 0 picks a free one, named in the ready line' },
  reusePort: {
    fallback: 'off',
    parse: onOff,
    meaning:
      'on: other processes of this machine that say so too may listen on the same PORT, and the kernel shares new connections out among them ([when](growth.md#more-than-one-core-for-polls))',
  },
  metricsPort: {
    parse: integer(0, 65535),
    meaning: 'port that serves /metrics and nothing else; 0 picks a free one, named in the log; none when unset',
  },
  metricsHost: { fallback: '127.0.0.1', parse: text, meaning: 'address to listen on for METRICS_PORT' },
  metricsToken: {
    parse: secret(16),
    meaning: 'with it /metrics is served on PORT too, and asks for it as Bearer token on both; 16 to 64 visible ASCII characters',
  },
  tlsCertFile: {
    parse: text,
    meaning: 'PEM file of the certificate of the service, and of those between it and the root; with it PORT speaks TLS only',
  },
  tlsKeyFile: { parse: text, meaning: "PEM file of the certificate's key, without a passphrase" },
  tlsClientCaFile: { parse: text, meaning: 'PEM file of the authorities whose certificates clients have to show, beside their key' },
  dataDir: { fallback: './data', parse: text, meaning: 'folder of the embedded store and stream, made with mode 0700' },
  databaseUrl: {
    parse(value) {
      if (postgresHosts(value) === undefined) throw new Error('must be an address that begins with postgres:// or postgresql://');
      return value;
    },
    meaning:
      'postgres://… puts the store into PostgreSQL; several hosts (`postgres://one,two/weir`): the one that takes writes ([failover](deployment.md#failover))',
  },
  kafkaBrokers: { parse: commaList(broker), meaning: 'host:port list, separated by commas, puts the stream into Kafka' },
  kafkaTopic: {
    fallback: 'signals',
    parse: (value) => {
      if (!/^[A-Za-z0-9._-]{1,249}$/.test(value)) throw new Error('must be 1 to 249 letters, digits, dots, underscores or hyphens');
      return value;
    },
    meaning: 'topic of the stream',
  },
  kafkaGroup: { parse: text, meaning: 'consumer group; weir- and the topic when unset' },
  kafkaPartitions: { fallback: '12', parse: integer(1, 10_000), meaning: 'partitions of a topic that is made' },
  kafkaReplication: { parse: integer(1, 100), meaning: "replicas of a topic that is made; the brokers' default when unset" },
  kafkaTls: { fallback: 'off', parse: onOff, meaning: 'on: connections to Kafka use TLS' },
  kafkaCaFile: {
    parse: text,
    meaning: "PEM file of the authority that has signed the brokers' certificates; the well-known ones when unset",
  },
  kafkaCertFile: { parse: text, meaning: 'PEM file of the client certificate, where the brokers ask for one' },
  kafkaKeyFile: { parse: text, meaning: "PEM file of the client certificate's key" },
  kafkaSaslMechanism: { parse: oneOf(SASL_MECHANISMS), meaning: `how weir proves who it is, one of ${SASL_MECHANISMS.join(', ')}` },
  kafkaSaslUsername: { parse: text, meaning: 'user name for SASL' },
  kafkaSaslPassword: { parse: text, meaning: 'password for SASL' },
  roles: { fallback: ROLES.join(','), parse: roles, meaning: 'which parts this process runs, any subset' },
  bootstrapApiKey: {
    parse: secret(8),
    meaning: 'this key exists with all permissions in the workspace default; 8 to 64 visible ASCII characters',
  },
  feedRebuildSeconds: {
    fallback: '30',
    parse: duration('s', 0, 3600),
    meaning: 'a feed is read from the store at most once in this time; 0 reads it for every request (tests, benchmarks)',
  },
  feedCacheMb: { fallback: '256', parse: integer(0, 1_048_576), meaning: 'rendered feed bodies kept in memory, MiB' },
} satisfies Record<string, Setting<unknown>>;
