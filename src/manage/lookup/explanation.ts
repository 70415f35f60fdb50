/** SPEC D10. */

import type { Explained, ExplainedTarget } from '../../feed/whatif/explain/explain.ts';
import type {
  ExplainedRule,
  FeedExplanation,
  FeedSource,
  FoundQuorum,
  Idle,
  Relation,
  Subtraction,
  Verdict,
} from '../../feed/whatif/explain/explanation.ts';
import type { RuleOrigin } from '../../ports/stored/rule-store.ts';
import type { AccessAction } from '../../rule.ts';
import { ruleJson } from '../../signal/rule-json.ts';
import { formatTarget } from '../../signal/target.ts';
import { type Names, originJson, type RuleSource, ruleSource } from '../rules/rule-json.ts';

export interface RuleJson extends Record<string, unknown> {
  readonly effect: ExplainedRule['effect'];
  readonly idle: Idle | null;
  readonly relation: Relation;
  /** The network served for a blocked host; null: as sent (SPEC D55.4). */
  readonly served_as: string | null;
  /** Why the host is served as sent: `wider than /24`, protected networks within the wider network. */
  readonly not_widened: readonly string[];
  /** Why the block lasts longer than sent. */
  readonly repeated?: string;
  readonly id: number;
  readonly target: string;
  readonly action: AccessAction;
  readonly reason: string | null;
  readonly rule_ref: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly list_name: string;
  readonly batch_id: string | null;
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly actor?: string;
  readonly person?: string;
  /** null: no source manages the list. */
  readonly source: RuleSource | null;
}

export interface FeedJson {
  readonly kind: FeedSource['kind'];
  readonly id: string | null;
  readonly name: string;
  /** unknown: at an earlier time (SPEC D61.5). */
  readonly verdict: Verdict | 'unknown';
  readonly family: string;
  /** null: not counted. */
  readonly entries: number | null;
  readonly max_entries: number | null;
  readonly over_cap: boolean | null;
  readonly rules: readonly RuleJson[];
  readonly protected_by: readonly string[];
  /** null: no quorum, or no list has it (SPEC D29). */
  readonly agreement: { readonly min_sources: number; readonly found: number; readonly lists: FoundQuorum['lists'] } | null;
  /** Why the feed leaves the target out: it is full. null: it does not. */
  readonly rank: FeedExplanation['rank'];
  readonly unblock: { readonly removes: readonly number[]; readonly verdict: Verdict };
  /** null: no such rule concerns the target. */
  readonly subtract_allow: Subtraction | null;
}

export const explanationJson = ({ feeds, origins }: ExplainedTarget, names: Names, repeats: ReadonlyMap<number, string>): FeedJson[] =>
  feeds.map((each) => feedJson(each, names, origins, repeats));

function feedJson(
  { source, explanation, size }: Explained,
  names: Names,
  origins: ReadonlyMap<number, RuleOrigin>,
  repeats: ReadonlyMap<number, string>,
): FeedJson {
  const { verdict, family, rules, protectedBy, quorum, rank, unblock, subtract } = explanation;
  return {
    kind: source.kind,
    id: source.id,
    name: source.profile.name,
    verdict,
    family,
    entries: size?.entries ?? null,
    max_entries: size?.limit ?? null,
    over_cap: size === undefined ? null : size.entries > size.limit,
    rules: rules.map(({ stored, effect, idle, relation, servedAs, notWidened }): RuleJson => {
      const origin = originJson(origins.get(stored.seq));
      return {
        effect,
        idle,
        relation,
        served_as: servedAs && formatTarget(servedAs),
        not_widened: notWidened,
        ...(repeats.has(stored.id) && { repeated: repeats.get(stored.id) }),
        ...ruleJson(stored),
        list_name: names.lists.get(stored.listId ?? '') ?? '',
        ...origin,
        key_name: names.keys.get(origin.key_id ?? '') ?? null,
        source: ruleSource(stored, names),
      } as RuleJson;
    }),
    protected_by: protectedBy,
    agreement: quorum && { min_sources: quorum.minSources, found: quorum.found, lists: quorum.lists },
    rank,
    unblock: { removes: unblock.removes.map(({ id }) => id), verdict: unblock.verdict },
    subtract_allow: subtract,
  };
}
