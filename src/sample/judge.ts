/** Port: tries rules on a workspace's sample (SPEC D21). Verdicts: D21.4, D21.5. */
import { mostBlocked, type SampleInfo } from '../account/sample.ts';
import type { Tried, TriedRule } from './try-rule.ts';

export interface Trial {
  readonly workspaceId: string;
  /** Of the sample; a newer one is used if it exists. */
  readonly revision: SampleInfo['revision'];
  readonly rules: readonly TriedRule[];
}

/** Tries each rule once, in order. Undefined if the sample was deleted. Rejects if it is unreadable. */
export type TryRules = (trial: Trial) => Promise<readonly Tried[] | undefined>;

/** A fault refuses the entry; a warning is returned in dry runs. */
export interface Verdict {
  readonly fault?: string;
  readonly warning?: string;
}

const counted = new Intl.NumberFormat('en-US');

/** `limited`: whether the sample's limit applies to this kind of rule. */
export function verdictOf(tried: Tried, sample: SampleInfo, limited: boolean): Verdict {
  if ('untried' in tried) {
    const text = `was not tried on the sample: ${tried.untried}`;
    // A rule that cannot run here may be valid; one that is too slow is not.
    return tried.tooSlow && limited && sample.maxShare !== null ? { fault: text + hinted(tried) } : { warning: text };
  }
  if (tried.matches === 0) return {};
  const most = mostBlocked(sample);
  const limit = Number.isFinite(most) ? ` (limit ${counted.format(most)})` : '';
  const of = `${counted.format(tried.matches)} of ${counted.format(sample.requests)}`;
  const text = `matches ${of} requests of the sample${limit}, first: ${tried.first}`;
  return limited && tried.matches > most ? { fault: text + hinted(tried) } : { warning: text };
}

const hinted = ({ hints = [] }: Tried): string => hints.map((hint) => `; hint: ${hint}`).join('');
