import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions, SASLMechanismValue } from '@platformatic/kafka';

/** SASL mechanisms: the name in the settings, and Kafka's. */
const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const satisfies Record<string, SASLMechanismValue>;

/** Where the topic is, and how it is made when it is missing. */
export interface KafkaOptions {
  /** host:port of some brokers, which name the others. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The consumer group; `weir-<topic>` when undefined. */
  readonly group?: string;
  /** Partitions of a topic that is made; one that exists keeps its own. */
  readonly partitions: number;
  /** Replicas of a topic that is made; the brokers' default when undefined. */
  readonly replication?: number;
  /** How long a topic that is made keeps its messages, hours. */
  readonly retentionHours: number;
  /** Paths of PEM files; `cert` and `key` only where the brokers ask for a client certificate. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: { readonly mechanism: keyof typeof MECHANISMS; readonly username: string; readonly password: string };
}

type Security = Pick<ConnectionOptions, 'tls' | 'tlsServerName' | 'sasl'>;

/** The TLS and SASL options of the client. Reads the certificate files; throws when one cannot be read. */
export function security({ brokers, tls, sasl }: Pick<KafkaOptions, 'brokers' | 'tls' | 'sasl'>): Security {
  const pem = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  return {
    ...(tls !== undefined && {
      tls: { ca: pem(tls.ca), cert: pem(tls.cert), key: pem(tls.key) },
      // A server's name may not be an address (RFC 6066).
      tlsServerName: brokers.every((broker) => isIP(broker.slice(0, broker.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')) === 0),
    }),
    ...(sasl !== undefined && { sasl: { ...sasl, mechanism: MECHANISMS[sasl.mechanism] } }),
  };
}
