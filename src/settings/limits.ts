import { LIMITS } from '../signal/limits.ts';
import {
  cidr,
  commaList,
  duration,
  folderUrl,
  integer,
  LOG_LEVELS,
  oneOf,
  onOff,
  protectedNetwork,
  type Setting,
  secretKeys,
  text,
  url,
} from './setting.ts';

export const LIMITS_AND_SOURCES = {
  geoCountryFile: { parse: text, meaning: 'your own CSV or MMDB file of country ranges instead of the packaged data' },
  geoAsnFile: { parse: text, meaning: 'your own CSV or MMDB file of ASN ranges instead of the packaged data' },
  geoUpdateHours: { parse: duration('h', 1, 8760), meaning: 'how often `weir geo update` runs by itself; never when unset' },
  geoUpdateUrl: {
    fallback: 'https://github.com/sapics/ip-location-db/releases/download/latest',
    parse: folderUrl,
    meaning: 'address of the folder that `weir geo update` fetches its files from',
  },
  schemesFile: { parse: text, meaning: 'JSON file that adds or replaces expression fields and functions per kind of rule' },
  rateLimitSignals: {
    fallback: '6000',
    parse: integer(0, 1_000_000_000),
    meaning: 'signal requests per key and minute in this process; 0 = no limit',
  },
  rateLimitEntries: {
    fallback: '600000',
    parse: (value) => (value === '0' ? 0 : integer(LIMITS.batchEntries, 1_000_000_000)(value)),
    meaning: `entries of signals per key and minute in this process, at least ${LIMITS.batchEntries}; 0 = no limit`,
  },
  maxRules: {
    fallback: '2000000',
    parse: integer(0, 1_000_000_000),
    meaning: 'rules of a workspace, expired ones included for the 7 days that they are kept; beyond it upserts are refused; 0 = no limit',
  },
  maxLists: {
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
    meaning: 'lists of a workspace; `weir list create` refuses one more; 0 = no limit',
  },
  maxFeeds: {
    fallback: '1000',
    parse: integer(0, 1_000_000_000),
    meaning: 'feeds made of lists of a workspace; making one more is refused; 0 = no limit',
  },
  maxSources: {
    fallback: '50',
    parse: integer(0, 1_000_000_000),
    meaning: 'sources of a workspace; making one more is refused; 0 = no limit',
  },
  secretsKey: {
    unset: [],
    parse: secretKeys,
    meaning:
      'key that secrets of sources and webhooks are encrypted with: 32 bytes, as base64 or as 64 hexadecimal digits (`openssl rand -base64 32`). To change it put the new one before the old one, with a comma: the first encrypts, both decrypt. Without it secrets are refused',
  },
  maxKeys: {
    fallback: '10000',
    parse: integer(0, 1_000_000_000),
    meaning:
      'keys of a workspace; making one more forgets the one that was revoked or expired longest ago, and is refused where there is none; 0 = no limit',
  },
  maxAuditMb: {
    fallback: '256',
    parse: integer(0, 1_000_000),
    meaning:
      'audit log of a workspace, MiB; from half of it on rows are kept for 7 days instead of 90, and beyond it keys change nothing but delete and revoke; 0 = no limit',
  },
  maxAnswersMb: {
    fallback: '64',
    parse: integer(0, 1_000_000),
    meaning:
      'answers to requests with an `Idempotency-Key` that are kept for a day, of a workspace, MiB; beyond it such requests are refused; 0 = no limit',
  },
  protectedNetworks: {
    unset: [],
    parse: commaList(protectedNetwork),
    meaning:
      'networks that no block may reach, and the names `private`, `special`, `self` ([which they are](deployment.md#guard-rails)), separated by commas',
  },
  minPrefixV4: { fallback: '0', parse: integer(0, 32), meaning: 'shortest prefix of an IPv4 network that may be blocked; 0 = any' },
  minPrefixV6: { fallback: '0', parse: integer(0, 128), meaning: 'shortest prefix of an IPv6 network that may be blocked; 0 = any' },
  rateLimitFeeds: {
    fallback: '6000',
    parse: integer(0, 1_000_000_000),
    meaning: 'feed requests per key and minute in this process; 0 = no limit',
  },
  rateLimitManage: {
    fallback: '600',
    parse: integer(0, 1_000_000_000),
    meaning: 'management requests per key and minute in this process; 0 = no limit',
  },
  bodyBudgetMb: {
    fallback: '256',
    parse: integer(LIMITS.batchBytes / 1024 / 1024, 1_048_576),
    meaning:
      'request bodies that are held in memory at one time, MiB; one key may hold an eighth, all keys of a workspace a half, but always one whole body',
  },
  maxConnections: {
    fallback: '10000',
    parse: integer(1, 1_000_000),
    meaning: 'open connections of this process; further ones are closed at once',
  },
  maxConnectionsPerAddress: {
    fallback: '1000',
    parse: integer(1, 1_000_000),
    meaning: 'the same for one address (IPv6: one /64); this machine and the proxies of TRUST_PROXY have no such limit',
  },
  trustProxy: { unset: [], parse: commaList(cidr), meaning: 'networks of proxies whose forwarded headers count' },
  baseUrl: {
    parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, ''),
    meaning: 'address under which clients reach the service, for the API documentation; derived when unset',
  },
  oidcFile: {
    parse: text,
    meaning:
      'JSON file of the OpenID Connect providers that [people](people.md) sign in to the console with, and of what their groups may do',
  },
  consoleKeys: {
    fallback: 'on',
    parse: onOff,
    meaning: 'off: keys do not sign in to the console, but while no provider answers; needs an OIDC_FILE that makes somebody admin',
  },
  manageAnswerSeconds: {
    fallback: '20',
    parse: duration('s', 0, 29),
    meaning:
      'how long a request of management that takes long (imports, undo, deleting rules, trying a source) is waited for before it is answered with 202 and an address to ask for its answer; half of it is how long other requests wait for their turn before 429; a connection on which nothing moves ends after 30 seconds',
  },
  console: { fallback: 'on', parse: onOff, meaning: 'on: the role manage serves the web console at /console/ too' },
  accessLog: {
    fallback: '0',
    parse: (value) => oneOf(['0', '1'])(value) === '1',
    meaning: '1: a line of the log for each request, and an `X-Request-Id` in each answer',
  },
  otelEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    parse: (value) => url(['http:', 'https:'])(value).replace(/\/+$/, ''),
    meaning: 'address of an OpenTelemetry collector that takes traces over HTTP, such as `http://127.0.0.1:4318`; no traces when unset',
  },
  logLevel: { fallback: 'info', parse: oneOf(LOG_LEVELS), meaning: `one of ${LOG_LEVELS.join(', ')}` },
  drainSeconds: {
    fallback: '0',
    parse: duration('s', 0, 3600),
    meaning: 'how long requests are still served after SIGTERM while /readyz answers 503',
  },
  streamRetentionHours: {
    fallback: '168',
    parse: duration('h', 1, 87_600),
    meaning: 'how long landed messages of the embedded stream are kept, and all messages of a Kafka topic that is made',
  },
  streamRetentionMb: {
    fallback: '8192',
    parse: integer(0, 100_000_000),
    meaning: 'landed messages of the embedded stream, MiB; beyond it the oldest go before their time; 0 = no limit',
  },
} satisfies Record<string, Setting<unknown>>;
