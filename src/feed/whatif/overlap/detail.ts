/** Cost and effect of one list (SPEC D30.1). */
import type { AccessList } from '../../../account/list.ts';
import type { Workspace } from '../../../account/workspace.ts';
import { secondOf } from '../../../clock.ts';
import type { StoreReads } from '../../../ports/store.ts';
import { ActiveRules } from '../../index/active-rules.ts';
import { RuleColumns } from '../../index/snapshot.ts';
import { type Trial, type TrialFeed, type TrialOptions, tryRules } from '../trial/trial.ts';
import { eachRule, TriedRules } from '../trial/tried-rules.ts';
import { stays } from './intervals.ts';

/** ms. */
const MOST_TIME = 20_000;

export interface DetailOptions extends Pick<TrialOptions, 'geo' | 'guard' | 'clock'> {
  readonly store: TrialOptions['store'] & Pick<StoreReads, 'listHistory'>;
}

export interface OverlapDetail {
  readonly neverBlock: Trial['neverBlock'];
  readonly protected: readonly string[];
  readonly feeds: readonly TrialFeed[];
  readonly leftOut: number;
}

export async function detailOf(
  workspace: Workspace,
  { id, name }: Pick<AccessList, 'id' | 'name'>,
  { store, geo, guard, clock }: DetailOptions,
): Promise<OverlapDetail> {
  const second = secondOf(clock.now());
  const stored = new RuleColumns();
  await store.listHistory(workspace.id, id, { stored, lost: stays({}) });
  const active = new ActiveRules(stored.rules(second), second, geo, 'both');
  const rules = new TriedRules('block', geo);
  eachRule(active, 'block', (target) => rules.take(target));
  const options = { store, geo, guard, clock, onStep: () => {}, limit: MOST_TIME };
  const { neverBlock, feeds, leftOut } = await tryRules({ workspace, rules, listId: id, name, isLeaving: true }, options);
  return { neverBlock, protected: guard.within(rules.listed.addresses), feeds, leftOut };
}
