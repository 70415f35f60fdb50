/** A workspace's sample of good traffic, and what share of it a rule may block (SPEC D21). */

/** Which rules are held against the sample: expression rules that were generated, or every rule that blocks. */
export const SAMPLE_RULES = ['generated', 'all'] as const;

export interface SampleLimit {
  /** From 0 to 1; null: what a rule would block is told in dry runs only. */
  readonly maxShare: number | null;
  readonly rules: (typeof SAMPLE_RULES)[number];
}

/** What is known of a workspace's sample. */
export interface SampleInfo extends SampleLimit {
  /** Changes with the requests. */
  readonly revision: number;
  readonly requests: number;
  /** Of the requests as text, bytes. */
  readonly bytes: number;
  /** ms since 1970. */
  readonly readAt: number;
}

/** Most requests of a sample, and most bytes of their text. */
export const MOST_SAMPLED = 10_000;
export const MOST_SAMPLE_BYTES = 64 * 1024 * 1024;

/** A workspace without a sample. */
export const NO_SAMPLE: SampleInfo = { revision: 0, maxShare: null, rules: 'generated', requests: 0, bytes: 0, readAt: 0 };

/** How many requests of a sample a rule may block. */
export const mostBlocked = ({ maxShare, requests }: Pick<SampleInfo, 'maxShare' | 'requests'>): number =>
  maxShare === null ? Number.POSITIVE_INFINITY : Math.floor(maxShare * requests);

/** What can be edited of a sample: its limit. */
export const sampleLimit = ({ maxShare, rules }: SampleLimit) => ({ max_sample_share: maxShare, sample_rules: rules });

/** A sample as JSON has it. */
export const sampleJson = (sample: SampleInfo) => ({
  requests: sample.requests,
  bytes: sample.bytes,
  taken_at: sample.requests === 0 ? null : new Date(sample.readAt).toISOString(),
  ...sampleLimit(sample),
});
