/** The addresses that a refresh on hold would add and remove (SPEC D53.10). */
import { type AddressSet, difference, overlaps } from '@weir/network/address-set.ts';
import type { Caller } from '../../account/caller.ts';
import { networksOf } from '../../feed/whatif/difference/difference.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';
import { Pile } from '../../source/addresses.ts';
import { comparedPages } from '../../source/current-rules.ts';
import { hasExpired } from '../../source/readers/entry.ts';
import type { ImportReplacePorts } from '../imports/import-replace.ts';
import { entriesOnHold } from './refreshes.ts';

/** Entries per turn. */
const TURN = 200;

type Ports = ImportReplacePorts & { readonly store: Pick<StoreReads, 'directory'> };

/** `limit`: networks named of each. Rejects with REFUSED if nothing is on hold. */
export async function addressesOnHold(ports: Ports, caller: Caller, record: SourceRecord, limit: number) {
  const { store, now, pause } = ports;
  const { workspaceId } = caller;
  const { purpose, listId } = record.source;
  const { replacement, entries, blockFaults } = entriesOnHold(ports, caller, record);
  const geo = ports.geo();
  const [before, after] = [new Pile(true), new Pile(true)];
  let read = 0;
  for await (const each of entries) {
    read += 1;
    if (read % TURN === 0) await pause();
    if (!('entry' in each) || hasExpired(each.entry, now())) continue;
    const { target } = each.entry;
    if (purpose === 'block' && target.kind === 'ip' && blockFaults(target.network).length > 0) continue;
    after.push(target, geo);
  }
  for await (const rules of comparedPages(store, workspaceId, listId, now(), pause))
    for (const { action, target } of rules) if (action === purpose) before.push(target, geo);
  const [was, is] = [before.merged(), after.merged()];
  await pause();
  const sets = [difference(is, was), difference(was, is)] as const;
  const detections = await detectionsIn(ports, workspaceId, sets);
  const [added, removed] = sets.map((set, i) => {
    const { count, first } = networksOf(set, limit);
    return { count, networks: first, detections: detections[i]! };
  });
  return { replacement, added: added!, removed: removed! };
}

/** Active blocks of lists without a source, by the sets that have an address of them. */
async function detectionsIn({ store, now, pause }: Ports, workspaceId: string, sets: readonly AddressSet[]): Promise<number[]> {
  const found = sets.map(() => 0);
  for (const { id, sourceId } of (await store.directory(workspaceId))?.lists ?? []) {
    if (sourceId !== null) continue;
    for await (const rules of comparedPages(store, workspaceId, id, now(), pause))
      for (const { action, target } of rules) {
        if (action !== 'block' || target.kind !== 'ip') continue;
        for (const [i, set] of sets.entries()) if (overlaps(set, target.network)) found[i]! += 1;
      }
  }
  return found;
}
