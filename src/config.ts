import type { Setting } from './settings/setting.ts';
import { type Config, ROWS } from './settings/settings.ts';
import { isOneEdit } from './text/one-edit.ts';

const variableOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** With variables, in the order of docs and errors. */
export const SETTINGS = Object.fromEntries(
  Object.entries<Setting<unknown>>(ROWS).map(([name, row]) => [name, { variable: variableOf(name), ...row }]),
) as Record<keyof Config, Setting<unknown> & { readonly variable: string }>;

/** Values that no message quotes. */
const SECRETS: readonly (keyof Config)[] = [
  'bootstrapApiKey',
  'metricsToken',
  'databaseUrl',
  'geoUpdateUrl',
  'secretsKey',
  'sourceProxy',
  'webhookUrl',
  'webhookSecret',
];

/** If the first is set, the second is required. */
const NEEDS: readonly [given: keyof Config, needed: keyof Config][] = [
  ['oidcFile', 'baseUrl'],
  ['webhookSecret', 'webhookUrl'],
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

/** An empty variable is unset. Returns the configuration, or all faults, one line each. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): { config: Config } | { faults: string[] } {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { variable, fallback, unset, parse }] of Object.entries(SETTINGS)) {
    const value = environment[variable] || fallback;
    if (value === undefined) {
      config[name] = unset;
      continue;
    }
    try {
      config[name] = parse(value);
    } catch (error) {
      // JSON makes the CR of a Windows file visible.
      const quoted = SECRETS.includes(name as keyof Config) ? '' : `, not ${JSON.stringify(value)}`;
      faults.push(`${variable} ${(error as Error).message}${quoted}`);
    }
  }
  const isSet = (name: keyof Config) => !['', 'off', undefined].includes(environment[SETTINGS[name].variable]);
  for (const [given, needed] of NEEDS) {
    if (isSet(given) && !isSet(needed)) faults.push(`${SETTINGS[needed].variable} must be set, because ${SETTINGS[given].variable} is`);
  }
  return faults.length > 0 ? { faults } : { config: Object.freeze(config) as unknown as Config };
}

/** Variables one edit away from a setting that is unset, a sentence each. */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(SETTINGS).map(({ variable }) => variable);
  // Single words are common names of other programs.
  const unset = known.filter((variable) => variable.includes('_') && !environment[variable]);
  return Object.keys(environment).flatMap((name) => {
    const intended = known.includes(name) ? undefined : unset.find((variable) => isOneEdit(name, variable));
    return intended === undefined ? [] : [`${name} is no setting; did you mean ${intended}?`];
  });
}
