/** Asks what rules would block of a workspace's sample, wherever that is found out (SPEC D21). */
import type { SampleInfo } from '../account/sample.ts';
import type { Tried, TriedRule } from './try-rule.ts';

/** Rules of one workspace to be tried on its sample. */
export interface Trial {
  readonly workspaceId: string;
  /** Of the sample; where it is another by now, that one is tried. */
  readonly revision: SampleInfo['revision'];
  readonly rules: readonly TriedRule[];
}

/** Tries rules, each once, in order. Undefined where the sample is gone. Rejects where it cannot be read. */
export type TryRules = (trial: Trial) => Promise<readonly Tried[] | undefined>;
