/** The content of a feed with `fit best` after a change of its rules (SPEC D57.8): their ranks change too. */
import type { AddressSet } from '@weir/network/address-set.ts';
import type { Workspace } from '../../../account/workspace.ts';
import { secondOf } from '../../../clock.ts';
import { addressesIn } from '../../build/content.ts';
import { contentOfFeed } from '../../build/render-feed.ts';
import { addRule } from '../../index/rule-table.ts';
import { readSnapshot, rulesOfList } from '../../index/snapshot.ts';
import { storedVariant } from '../../variant.ts';
import { rolesOf } from './explain-feed.ts';
import type { FeedSource, StoredAccessRule } from './explanation.ts';
import type { ExplainOptions } from './sources.ts';

/** undefined: the feed has another `fit`. Reads all its rules. */
export async function servedAfter(
  { store, geo, now, guard }: Pick<ExplainOptions, 'store' | 'geo' | 'now' | 'guard'>,
  workspace: Workspace,
  source: FeedSource,
  { removed, added }: { readonly removed: readonly StoredAccessRule[]; readonly added?: StoredAccessRule | undefined },
): Promise<AddressSet | undefined> {
  if (source.agreeing?.quorum.fit !== 'best') return undefined;
  const snapshot = await readSnapshot(store, { workspaceId: workspace.id, feedId: source.id }, now);
  if (snapshot === undefined) return undefined;
  const ids = new Set(removed.map(({ id }) => id));
  for (const { rules } of snapshot.parts) for (const table of [rules.v4, rules.v6, rules.geo]) table.remove(ids, 0);
  for (const role of added === undefined ? [] : rolesOf(added, source))
    addRule(rulesOfList(snapshot, added!.listId), added!.id, role, added!.rule.target, 0);
  const variant = storedVariant(snapshot.head.profile);
  return addressesIn(contentOfFeed(snapshot, variant, secondOf(now.wall), geo, guard(workspace).protected).content);
}
