import { readFileSync } from 'node:fs';
import type { ConnectionOptions, SASLMechanismValue } from '@platformatic/kafka';

/** SASL mechanisms as the settings name them, and as Kafka does. */
const MECHANISMS: Readonly<Record<SaslMechanism, SASLMechanismValue>> = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
};
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

export interface KafkaOptions {
  /** host:port of some brokers; the others are learned from them. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The group among whose members the partitions are divided; `weir-<topic>` when undefined. */
  readonly group?: string;
  /** Of a topic that is made; one that exists keeps its own. */
  readonly partitions: number;
  /** Replicas of a topic that is made; -1 = the brokers' default. */
  readonly replication: number;
  /** How long a topic that is made keeps its messages. */
  readonly retentionHours: number;
  /** Paths of PEM files; `cert` and `key` only where the brokers ask for a client certificate. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string };
}

/** How brokers are reached and how the client proves who it is. Reads the certificate files. */
export function security({ tls, sasl }: Pick<KafkaOptions, 'tls' | 'sasl'>): Pick<ConnectionOptions, 'tls' | 'tlsServerName' | 'sasl'> {
  const pem = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  return {
    ...(tls !== undefined && { tls: { ca: pem(tls.ca), cert: pem(tls.cert), key: pem(tls.key) }, tlsServerName: true }),
    ...(sasl !== undefined && { sasl: { ...sasl, mechanism: MECHANISMS[sasl.mechanism] } }),
  };
}
