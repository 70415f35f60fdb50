import { LIMITS } from '../signal/limits.ts';
import {
  type Config,
  cidr,
  commaList,
  folderUrl,
  integer,
  LOG_LEVELS,
  oneOf,
  onOff,
  protectedNetwork,
  type Setting,
  text,
  url,
} from './setting.ts';

type Rows = { readonly [K in keyof Config]: Setting<NonNullable<Config[K]>> };

export const LIMITS_AND_SOURCES = {
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
  maxSources: {
    variable: 'MAX_SOURCES',
    fallback: '50',
    parse: integer(0, 1_000_000_000),
    meaning: 'sources of a workspace; making one more is refused; 0 = no limit',
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
} as const satisfies Partial<Rows>;
