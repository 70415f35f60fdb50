import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions, SASLMechanismValue } from '@platformatic/kafka';

/** By name in the settings. */
const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const satisfies Record<string, SASLMechanismValue>;

/** The topic and how to create it. */
export interface KafkaOptions {
  /** host:port; they name the others. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Default `weir-<topic>`. */
  readonly group?: string;
  /** Of a new topic. */
  readonly partitions: number;
  /** Of a new topic; default: the brokers' setting. */
  readonly replication?: number;
  /** Of a new topic. */
  readonly retentionHours: number;
  /** PEM files; `cert` and `key` only if the brokers require a client certificate. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: { readonly mechanism: keyof typeof MECHANISMS; readonly username: string; readonly password: string };
}

type Security = Pick<ConnectionOptions, 'tls' | 'tlsServerName' | 'sasl'>;

/** Throws if a certificate file is unreadable. */
export function security({ brokers, tls, sasl }: Pick<KafkaOptions, 'brokers' | 'tls' | 'sasl'>): Security {
  const pem = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  return {
    ...(tls !== undefined && {
      tls: { ca: pem(tls.ca), cert: pem(tls.cert), key: pem(tls.key) },
      // A server name must not be an address (RFC 6066).
      tlsServerName: brokers.every((broker) => isIP(broker.slice(0, broker.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')) === 0),
    }),
    ...(sasl !== undefined && { sasl: { ...sasl, mechanism: MECHANISMS[sasl.mechanism] } }),
  };
}
