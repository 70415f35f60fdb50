import { WEBHOOK_STYLES } from '../account/webhook.ts';
import { postgresHosts } from '../postgres-hosts.ts';
import { LIMITS } from '../signal/limits.ts';
import {
  broker,
  cidr,
  commaList,
  duration,
  folderUrl,
  integer,
  LOG_LEVELS,
  nat64Prefix,
  oneOf,
  onOff,
  protectedNetwork,
  quota,
  ROLES,
  roles,
  SASL_MECHANISMS,
  type Setting,
  secret,
  secretKeys,
  text,
  url,
} from './setting.ts';

/** In the order of docs/settings.md, which says what each means, and of errors. */
export const ROWS = {
  host: { fallback: '127.0.0.1', parse: text },
  port: { fallback: '8080', parse: integer(0, 65535) },
  reusePort: { fallback: 'off', parse: onOff },
  metricsPort: { parse: integer(0, 65535) },
  metricsHost: { fallback: '127.0.0.1', parse: text },
  metricsToken: { parse: secret(16) },
  tlsCertFile: { parse: text },
  tlsKeyFile: { parse: text },
  tlsClientCaFile: { parse: text },
  dataDir: { fallback: './data', parse: text },
  databaseUrl: {
    parse(value) {
      if (postgresHosts(value) === undefined) throw new Error('must be an address that begins with postgres:// or postgresql://');
      return value;
    },
  },
  kafkaBrokers: { parse: commaList(broker) },
  kafkaTopic: {
    fallback: 'signals',
    parse: (value) => {
      if (!/^[A-Za-z0-9._-]{1,249}$/.test(value)) throw new Error('must be 1 to 249 letters, digits, dots, underscores or hyphens');
      return value;
    },
  },
  kafkaGroup: { parse: text },
  kafkaPartitions: { fallback: '12', parse: integer(1, 10_000) },
  kafkaReplication: { parse: integer(1, 100) },
  kafkaTls: { fallback: 'off', parse: onOff },
  kafkaCaFile: { parse: text },
  kafkaCertFile: { parse: text },
  kafkaKeyFile: { parse: text },
  kafkaSaslMechanism: { parse: oneOf(SASL_MECHANISMS) },
  kafkaSaslUsername: { parse: text },
  kafkaSaslPassword: { parse: text },
  roles: { fallback: ROLES.join(','), parse: roles },
  bootstrapApiKey: { parse: secret(8) },
  feedRebuildSeconds: { fallback: '30', parse: duration('s', 0, 3600) },
  feedCacheMb: { fallback: '256', parse: integer(0, 1_048_576) },
  geoCountryFile: { parse: text },
  geoAsnFile: { parse: text },
  geoUpdateHours: { parse: duration('h', 1, 8760) },
  geoUpdateUrl: { fallback: 'https://github.com/sapics/ip-location-db/releases/download/latest', parse: folderUrl },
  schemesFile: { parse: text },
  rateLimitSignals: { fallback: '6000', parse: quota },
  rateLimitEntries: { fallback: '600000', parse: (value) => (value === '0' ? 0 : integer(LIMITS.batchEntries, 1_000_000_000)(value)) },
  maxRules: { fallback: '2000000', parse: quota },
  maxLists: { fallback: '10000', parse: quota },
  maxFeeds: { fallback: '1000', parse: quota },
  maxSources: { fallback: '50', parse: quota },
  secretsKey: { unset: [], parse: secretKeys },
  maxKeys: { fallback: '10000', parse: quota },
  maxAuditMb: { fallback: '256', parse: integer(0, 1_000_000) },
  maxAnswersMb: { fallback: '64', parse: integer(0, 1_000_000) },
  protectedNetworks: { unset: [], parse: commaList(protectedNetwork) },
  minPrefixV4: { fallback: '0', parse: integer(0, 32) },
  minPrefixV6: { fallback: '0', parse: integer(0, 128) },
  rateLimitFeeds: { fallback: '6000', parse: quota },
  rateLimitManage: { fallback: '600', parse: quota },
  bodyBudgetMb: { fallback: '256', parse: integer(LIMITS.batchBytes / 1024 / 1024, 1_048_576) },
  maxConnections: { fallback: '10000', parse: integer(1, 1_000_000) },
  maxConnectionsPerAddress: { fallback: '1000', parse: integer(1, 1_000_000) },
  waitingPerKey: { fallback: '1000', parse: integer(1, 1_000_000) },
  waitingPerWorkspace: { fallback: '5000', parse: integer(1, 1_000_000) },
  trustProxy: { unset: [], parse: commaList(cidr) },
  baseUrl: { parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, '') },
  oidcFile: { parse: text },
  consoleKeys: { fallback: 'on', parse: onOff },
  manageAnswerSeconds: { fallback: '20', parse: duration('s', 0, 29) },
  console: { fallback: 'on', parse: onOff },
  accessLog: { fallback: '0', parse: (value) => oneOf(['0', '1'])(value) === '1' },
  otelEndpoint: { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, '') },
  logLevel: { fallback: 'info', parse: oneOf(LOG_LEVELS) },
  drainSeconds: { fallback: '0', parse: duration('s', 0, 3600) },
  streamRetentionHours: { fallback: '168', parse: duration('h', 1, 87_600) },
  streamRetentionMb: { fallback: '8192', parse: integer(0, 100_000_000) },
  sourceNetworks: { unset: [], parse: commaList(cidr) },
  sourceProxy: { parse: url(['http:']) },
  noProxy: { unset: [], parse: commaList(text) },
  sourceCaFile: { parse: text },
  sourceContact: { parse: url(['http:', 'https:', 'mailto:']) },
  sourceMaxMb: { fallback: '64', parse: integer(1, 1024) },
  sourceSeconds: { fallback: '300', parse: duration('s', 1, 3600) },
  sourceRefreshSeconds: { fallback: '60', parse: duration('s', 0, 3600) },
  webhookNetworks: { unset: [], parse: commaList(cidr) },
  nat64Prefixes: { unset: [], parse: commaList(nat64Prefix) },
  webhookUrl: { parse: url(['http:', 'https:']) },
  webhookStyle: { fallback: 'weir', parse: oneOf(WEBHOOK_STYLES) },
  webhookSecret: { parse: secret(16) },
} as const satisfies Record<string, Setting<unknown>>;

type Rows = typeof ROWS;
type Value<S> =
  S extends Setting<infer T> ? (S extends { readonly fallback: string } | { readonly unset: unknown } ? T : T | undefined) : never;

/** Validated and frozen. Names of durations contain the unit. */
export type Config = { readonly [K in keyof Rows]: Value<Rows[K]> };
