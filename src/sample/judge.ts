/** Port: tries rules on a workspace's sample (SPEC D21). */
import type { SampleInfo } from '../account/sample.ts';
import type { Tried, TriedRule } from './try-rule.ts';

export interface Trial {
  readonly workspaceId: string;
  /** Of the sample; a newer one is used if it exists. */
  readonly revision: SampleInfo['revision'];
  readonly rules: readonly TriedRule[];
}

/** Tries each rule once, in order. Undefined if the sample was deleted. Rejects if it is unreadable. */
export type TryRules = (trial: Trial) => Promise<readonly Tried[] | undefined>;
