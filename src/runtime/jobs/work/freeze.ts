/** Reads a feed at one moment, to freeze it (SPEC D60.2). */
import type { Clock } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { FrozenContent } from '../../../ports/stored/freeze-store.ts';
import { FrozenRules } from '../../../store/rules/frozen-rules.ts';
import { type ReadingData, reading } from './reading.ts';

export interface FreezeData extends ReadingData {
  readonly workspaceId: string;
  readonly feedId: string | null;
}

/** Rejects with NOT_FOUND for a deleted feed. */
export async function frozenContent(
  workspaceId: string,
  feedId: string | null,
  { store, clock }: { readonly store: Pick<StoreReads, 'follow'>; readonly clock: Clock },
): Promise<FrozenContent> {
  const rules = new FrozenRules();
  const head = await store.follow(workspaceId, feedId, clock.now(), { change: 0, lists: new Set() }, rules);
  if (head === undefined || head === 'too_far') throw new WeirError('NOT_FOUND', 'the feed was deleted');
  return rules.content(head, feedId);
}

export const serve = ({ workspaceId, feedId, ...data }: FreezeData) => reading(data, (parts) => frozenContent(workspaceId, feedId, parts));
