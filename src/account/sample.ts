/** A workspace's sample of good traffic, and the share that a rule may block (SPEC D21). */

/** Rules checked against the sample: generated expression rules, or every blocking rule. */
export const SAMPLE_RULES = ['generated', 'all'] as const;

export interface SampleLimit {
  /** From 0 to 1; null: dry runs report, nothing is refused. */
  readonly maxShare: number | null;
  readonly rules: (typeof SAMPLE_RULES)[number];
}

export interface SampleInfo extends SampleLimit {
  readonly revision: number;
  readonly requests: number;
  readonly bytes: number;
  /** ms since 1970. */
  readonly readAt: number;
}

/** Limits of requests and of their text in bytes. */
export const MOST_SAMPLED = 10_000;
export const MOST_SAMPLE_BYTES = 64 * 1024 * 1024;

export const NO_SAMPLE: SampleInfo = { revision: 0, maxShare: null, rules: 'generated', requests: 0, bytes: 0, readAt: 0 };

export const mostBlocked = ({ maxShare, requests }: Pick<SampleInfo, 'maxShare' | 'requests'>): number =>
  maxShare === null ? Number.POSITIVE_INFINITY : Math.floor(maxShare * requests);

export const sampleLimit = ({ maxShare, rules }: SampleLimit) => ({ max_sample_share: maxShare, sample_rules: rules });

export const sampleJson = (sample: SampleInfo) => ({
  requests: sample.requests,
  bytes: sample.bytes,
  taken_at: sample.requests === 0 ? null : new Date(sample.readAt).toISOString(),
  ...sampleLimit(sample),
});
