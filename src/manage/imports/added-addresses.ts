/** Adding more than half of a list's addresses needs confirmation (SPEC D44.4). */
import type { Caller } from '../../account/caller.ts';
import { type AddressChange, AddressTally, addressFaults, isBroad, SURE_PERCENT } from '../../source/addresses.ts';
import { comparedPages } from '../../source/current-rules.ts';
import { hasExpired, type ListEntry } from '../../source/readers/entry.ts';
import type { ReplacementPorts } from './replacements.ts';

export interface AddingTask {
  readonly caller: Caller;
  readonly listId: string;
  /** Ignores rules of this batch and later ones. */
  readonly batch?: string | undefined;
}

export interface AddedAddresses {
  readonly addresses: readonly AddressChange[];
  /** Reasons for a confirmation. */
  readonly faults: readonly string[];
}

type Added = Pick<ListEntry, 'target' | 'action' | 'expiry'>;

/** undefined if no entry is broad. */
export async function addedAddresses(
  { store, geo, now, pause, blockFaults, untilLanded }: ReplacementPorts,
  { caller, listId, batch }: AddingTask,
  entries: readonly Added[],
): Promise<AddedAddresses | undefined> {
  const { workspaceId } = caller;
  const guard = blockFaults(caller);
  const isRefused = ({ target, action }: Added) => action === 'block' && target.kind === 'ip' && guard(target.network).length > 0;
  const broad = entries.filter((entry) => isBroad(entry) && !hasExpired(entry, now()) && !isRefused(entry));
  if (broad.length === 0) return undefined;
  await untilLanded();
  const first = batch === undefined ? undefined : (await store.batch(workspaceId, batch))?.firstSeq;
  const tally = new AddressTally(geo());
  let present = 0;
  for await (const rules of comparedPages(store, workspaceId, listId, now(), pause))
    for (const rule of rules) {
      if (first !== undefined && rule.id >= first) continue;
      present += 1;
      for (const side of ['before', 'after'] as const) tally.push(side, rule);
    }
  for (const { action, target } of broad) {
    const of = { action: action as 'block', target };
    tally.push('after', of);
    tally.noteNew(of);
  }
  const addresses = await tally.change(pause);
  const faults = addressFaults(addresses, { present, added: 0, removed: 0, percent: SURE_PERCENT });
  return { addresses, faults };
}
