import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { misspeltSettings, readConfig, SETTINGS } from './config.ts';

const faultsOf = (environment: Record<string, string>) => {
  const read = readConfig(environment);
  return 'faults' in read ? read.faults : [];
};
const configOf = (environment: Record<string, string>) => {
  const read = readConfig(environment);
  assert.ok('config' in read, 'faults' in read ? read.faults.join('\n') : '');
  return read.config;
};

test('D1 settings: the defaults are those that are documented', () => {
  assert.deepEqual(configOf({}), {
    ...configOf({ PATH: '/bin' }),
    host: '127.0.0.1',
    port: 8080,
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    metricsToken: undefined,
    tlsCertFile: undefined,
    tlsKeyFile: undefined,
    tlsClientCaFile: undefined,
    dataDir: './data',
    databaseUrl: undefined,
    kafkaBrokers: undefined,
    kafkaTopic: 'signals',
    kafkaGroup: undefined,
    kafkaPartitions: 12,
    kafkaReplication: undefined,
    kafkaTls: false,
    kafkaCaFile: undefined,
    kafkaCertFile: undefined,
    kafkaKeyFile: undefined,
    kafkaSaslMechanism: undefined,
    kafkaSaslUsername: undefined,
    kafkaSaslPassword: undefined,
    roles: ['signals', 'consumer', 'feeds', 'manage', 'sources'],
    bootstrapApiKey: undefined,
    feedRebuildSeconds: 30,
    feedCacheMb: 256,
    geoCountryFile: undefined,
    geoAsnFile: undefined,
    geoUpdateHours: undefined,
    geoUpdateUrl: 'https://github.com/sapics/ip-location-db/releases/download/latest',
    rateLimitSignals: 6000,
    rateLimitEntries: 600_000,
    maxRules: 2_000_000,
    maxLists: 10_000,
    maxFeeds: 1000,
    maxSources: 50,
    secretsKey: [],
    maxKeys: 10_000,
    maxAuditMb: 256,
    maxAnswersMb: 64,
    protectedNetworks: [],
    minPrefixV4: 0,
    minPrefixV6: 0,
    rateLimitFeeds: 6000,
    rateLimitManage: 600,
    bodyBudgetMb: 256,
    maxConnections: 10_000,
    maxConnectionsPerAddress: 1000,
    waitingPerKey: 1000,
    waitingPerWorkspace: 5000,
    trustProxy: [],
    baseUrl: undefined,
    console: true,
    logLevel: 'info',
    drainSeconds: 0,
    streamRetentionHours: 168,
    streamRetentionMb: 8192,
    sourceNetworks: [],
    sourceProxy: undefined,
    noProxy: [],
    sourceCaFile: undefined,
    sourceContact: undefined,
    sourceMaxMb: 64,
    sourceSeconds: 300,
    webhookNetworks: [],
    nat64Prefixes: [],
    webhookUrl: undefined,
    webhookStyle: 'weir',
    webhookSecret: undefined,
  });
});

test('D1 settings: every fault is listed at once, one readable line each', () => {
  const faults = faultsOf({
    PORT: '65536',
    DATABASE_URL: 'mysql://secret@host/db',
    KAFKA_BROKERS: 'one:9092,two',
    ROLES: 'signals,nothing',
    BOOTSTRAP_API_KEY: 'short',
    FEED_REBUILD_SECONDS: '-1',
    TRUST_PROXY: '10.0.0.0/33',
    BASE_URL: 'weir.example',
    GEO_UPDATE_URL: 'https://user:secret@mirror.example/geo',
    LOG_LEVEL: 'loud',
    DRAIN_SECONDS: '1.5',
  });
  assert.equal(faults.length, 11);
  assert.equal(faults[0], 'PORT must be a whole number from 0 to 65535, not "65536"');
  assert.ok(faults.includes('ROLES must be a list of: signals, consumer, feeds, manage, sources, not "signals,nothing"'));
  assert.ok(faults.every((fault) => /^[A-Z_]+ must be /.test(fault) && !fault.includes('\n')));
  assert.ok(!faults.join().includes('secret') && !faults.join().includes('short'), 'secrets are not shown');
});

test('D41.1 settings: an IPv4-mapped network wider than a /8 is a fault, and trusts nobody', () => {
  for (const name of ['TRUST_PROXY', 'SOURCE_NETWORKS', 'WEBHOOK_NETWORKS', 'PROTECTED_NETWORKS'])
    assert.match(
      faultsOf({ [name]: '::ffff:0:0/96' }).join(),
      /^\w+ must be a list of (addresses or )?networks such as 10\.0\.0\.0\/8/,
      name,
    );
});

test('D1 settings: an empty variable is an unset one; any subset of roles is taken', () => {
  assert.equal(configOf({ PORT: '', DATABASE_URL: '' }).port, 8080);
  assert.deepEqual(configOf({ ROLES: 'feeds' }).roles, ['feeds']);
  assert.deepEqual(configOf({ ROLES: 'feeds, signals' }).roles, ['signals', 'feeds']);
  assert.deepEqual(configOf({ KAFKA_BROKERS: 'a:9092, [::1]:9093' }).kafkaBrokers, ['a:9092', '[::1]:9093']);
});

test('D42.10 settings of time take durations; a number alone has the unit of the setting', () => {
  const { feedRebuildSeconds, geoUpdateHours, streamRetentionHours, drainSeconds, sourceSeconds } = configOf({
    ...{ FEED_REBUILD_SECONDS: '2m', GEO_UPDATE_HOURS: '7d', STREAM_RETENTION_HOURS: '2w', DRAIN_SECONDS: '5', SOURCE_SECONDS: '90s' },
  });
  assert.deepEqual([feedRebuildSeconds, geoUpdateHours, streamRetentionHours, drainSeconds, sourceSeconds], [120, 168, 336, 5, 90]);
  assert.deepEqual(faultsOf({ GEO_UPDATE_HOURS: '90m', MANAGE_ANSWER_SECONDS: '1m' }), [
    'GEO_UPDATE_HOURS must be a whole number of hours from 1 to 8760, or a duration such as 90s, 12h, 7d, not "90m"',
    'MANAGE_ANSWER_SECONDS must be a whole number of seconds from 0 to 29, or a duration such as 90s, 12h, 7d, not "1m"',
  ]);
  // A setting of time is read as one: none is left that takes a number only.
  for (const [name, { parse }] of Object.entries(SETTINGS))
    if (/(Seconds|Hours)$/.test(name)) assert.equal(parse(name.endsWith('Hours') ? '24h' : '20s'), name.endsWith('Hours') ? 24 : 20, name);
});

test('D47.5 settings: a NAT64 prefix has a length of RFC 6052', () => {
  assert.deepEqual(configOf({ NAT64_PREFIXES: '64:ff9b:1::/48, 2001:db8:64::/96' }).nat64Prefixes, ['64:ff9b:1::/48', '2001:db8:64::/96']);
  for (const text of ['10.0.0.0/32', '64:ff9b::/95', '64:ff9b::', 'x', '64:ff9b::/96,'])
    assert.match(
      faultsOf({ NAT64_PREFIXES: text })[0]!,
      /^NAT64_PREFIXES must be a list of IPv6 prefixes such as 64:ff9b:1::\/96, of 32, 40/,
    );
});

test('D1.1 settings: what nobody sees in a value is shown in its fault', () => {
  assert.deepEqual(faultsOf({ PORT: '8080\r' }), ['PORT must be a whole number from 0 to 65535, not "8080\\r"']);
});

test('D1 settings: what is set without what belongs to it is a fault, and a password is in none', () => {
  assert.deepEqual(
    faultsOf({ KAFKA_CA_FILE: 'ca.pem', KAFKA_CERT_FILE: 'cert.pem', KAFKA_SASL_PASSWORD: 'open sesame', KAFKA_SASL_USERNAME: 'weir' }),
    [
      'KAFKA_TLS must be set, because KAFKA_CA_FILE is',
      'KAFKA_TLS must be set, because KAFKA_CERT_FILE is',
      'KAFKA_KEY_FILE must be set, because KAFKA_CERT_FILE is',
      'KAFKA_SASL_MECHANISM must be set, because KAFKA_SASL_USERNAME is',
      'KAFKA_SASL_MECHANISM must be set, because KAFKA_SASL_PASSWORD is',
    ],
  );
  assert.deepEqual(faultsOf({ KAFKA_TLS: 'off', KAFKA_CA_FILE: 'ca.pem' }), ['KAFKA_TLS must be set, because KAFKA_CA_FILE is']);
  const sasl = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'weir', KAFKA_SASL_PASSWORD: 'open sesame' };
  assert.deepEqual(faultsOf({ ...sasl, KAFKA_TLS: 'on', KAFKA_GROUP: 'weir' }), [
    'KAFKA_BROKERS must be set, because KAFKA_GROUP is',
    'KAFKA_BROKERS must be set, because KAFKA_TLS is',
    'KAFKA_BROKERS must be set, because KAFKA_SASL_MECHANISM is',
  ]);
  const { kafkaTls, kafkaSaslMechanism } = configOf({
    KAFKA_BROKERS: 'a:9092',
    KAFKA_TLS: 'on',
    KAFKA_CA_FILE: 'ca.pem',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'weir',
    KAFKA_SASL_PASSWORD: 'open sesame',
  });
  assert.deepEqual([kafkaTls, kafkaSaslMechanism], [true, 'scram-sha-512']);
});

test('D2 BOOTSTRAP_API_KEY has 8 to 64 visible ASCII characters', () => {
  for (const key of ['12345678', '~'.repeat(64)]) assert.equal(configOf({ BOOTSTRAP_API_KEY: key }).bootstrapApiKey, key);
  for (const key of ['1234567', 'x'.repeat(65), 'with blank', 'ümlaut-key']) assert.equal(faultsOf({ BOOTSTRAP_API_KEY: key }).length, 1);
});

test('D49.13 a variable one edit away from an unset setting is probably misspelt', () => {
  const given = { PROTECTED_NETWORK: 'x', MIN_PREFX_V4: '8', DATA_DIR: 'd', DATA_DIRS: 'x', HOSTS: 'x', PATH: 'x', MIN_PREFIX_V6: '9' };
  assert.deepEqual(misspeltSettings(given), [
    'PROTECTED_NETWORK is no setting; did you mean PROTECTED_NETWORKS?',
    'MIN_PREFX_V4 is no setting; did you mean MIN_PREFIX_V4?',
  ]);
});

test('D1 docs/settings.md explains every setting, in order and with its default', () => {
  const docs = readFileSync(new URL('../docs/settings.md', import.meta.url), 'utf8');
  assert.deepEqual(
    [...docs.matchAll(/^\| `([A-Z\d_]+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, variable, fallback]) => [variable, fallback]),
    Object.values(SETTINGS).map(({ variable, fallback }) => [variable, fallback === undefined ? 'unset' : `\`${fallback}\``]),
  );
});

test('D12.1, D12.8 metrics and TLS: half of a pair is a fault, and so is a short token, which is not repeated', () => {
  assert.deepEqual(faultsOf({ TLS_CERT_FILE: 'a', METRICS_HOST: '::', METRICS_TOKEN: 'fifteen-letters' }), [
    'METRICS_TOKEN must be 16 to 64 visible ASCII characters without blanks',
    'METRICS_PORT must be set, because METRICS_HOST is',
    'TLS_KEY_FILE must be set, because TLS_CERT_FILE is',
  ]);
  assert.deepEqual(faultsOf({ TLS_KEY_FILE: 'a', TLS_CLIENT_CA_FILE: 'b' }), [
    'TLS_CERT_FILE must be set, because TLS_KEY_FILE is',
    'TLS_CERT_FILE must be set, because TLS_CLIENT_CA_FILE is',
  ]);
});

test('D23.6 SECRETS_KEY is one key of 32 bytes, or the new one and the old one; its value is in no fault', () => {
  const [hex, base64] = ['0f'.repeat(32), Buffer.alloc(32, 7).toString('base64')];
  const read = (SECRETS_KEY: string) => readConfig({ SECRETS_KEY });
  const keys = (text: string) => {
    const found = read(text);
    return 'config' in found ? found.config.secretsKey.map((key) => Buffer.from(key).toString('hex')) : found.faults;
  };
  assert.deepEqual(keys(hex), [hex]);
  assert.deepEqual(keys(`${base64}, ${hex.toUpperCase()}`), ['07'.repeat(32), hex]);
  assert.deepEqual(keys(base64.slice(0, -1)), ['07'.repeat(32)]);
  assert.deepEqual(keys(`${hex},${hex},${hex}`), ['SECRETS_KEY must be one key, or the new and the old one, separated by a comma']);
  for (const wrong of ['change-me', hex.slice(2), Buffer.alloc(31).toString('base64'), `${hex},`])
    assert.deepEqual(keys(wrong), ['SECRETS_KEY must be 32 bytes, as base64 (openssl rand -base64 32) or as 64 hexadecimal digits']);
});
