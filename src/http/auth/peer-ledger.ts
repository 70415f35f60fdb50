/** Addresses of workspaces that protect their own clients (SPEC D62). */
import { PRIVATE_USE } from '@weir/network/special-purpose.ts';
import type { Caller } from '../../account/caller.ts';
import { type GuardRails, MOST_PEERS, protectedWord, protectsPeers } from '../../account/guard-rails.ts';
import type { PeerNotes, SeenPeer } from '../../ports/stored/peer-store.ts';
import { networks } from '../source.ts';

export interface PeerLedger extends PeerNotes {
  note(caller: Pick<Caller, 'workspaceId' | 'keyId' | 'personId' | 'guardRails'>, ip: string): void;
}

/** Interval, ms. */
const AGAIN = 3_600_000;
/** Clients in all; above it every client is noted again. */
const MOST = 50_000;

/** `service`: the service's guard rails; `proxies`: networks of TRUST_PROXY; `now`: ms. */
export function peerLedger(service: GuardRails, proxies: readonly string[], now: () => number): PeerLedger {
  const isOfAll = protectsPeers(service);
  const isExcluded = networks([...PRIVATE_USE, ...proxies]);
  const noted = new Map<string, Map<string, number>>();
  let size = 0;
  let seen = new Map<string, SeenPeer[]>();
  const early = new Set<string>();
  let wasEarly = new Set<string>();

  function isNew(workspaceId: string, name: string, at: number): boolean {
    const known = noted.get(workspaceId) ?? new Map<string, number>();
    if (at - (known.get(name) ?? Number.NEGATIVE_INFINITY) < AGAIN) return false;
    if (size >= MOST) {
      noted.clear();
      size = 0;
      known.clear();
    }
    if (known.size >= 2 * MOST_PEERS) {
      size -= known.size;
      known.clear();
    }
    if (!known.has(name)) size += 1;
    known.set(name, at);
    noted.set(workspaceId, known);
    return true;
  }

  const ledger: PeerLedger = {
    note({ workspaceId, keyId, personId, guardRails }, ip) {
      if (!isOfAll && !protectsPeers(guardRails)) return;
      const at = now();
      if (!isNew(workspaceId, `${keyId} ${ip}`, at) || isExcluded(ip)) return;
      const own = seen.get(workspaceId) ?? [];
      const address = protectedWord(ip);
      if (address === undefined || own.length >= MOST_PEERS) return;
      own.push({ keyId, address, isPerson: personId !== undefined, at });
      seen.set(workspaceId, own);
      if (wasEarly.has(workspaceId)) return;
      wasEarly.add(workspaceId);
      early.add(workspaceId);
      ledger.onFirst();
    },
    take() {
      const taken = seen;
      [seen, wasEarly] = [new Map(), new Set()];
      early.clear();
      return taken;
    },
    takeFirst() {
      const taken = new Map([...seen].filter(([workspaceId]) => early.has(workspaceId)));
      for (const workspaceId of taken.keys()) seen.delete(workspaceId);
      early.clear();
      return taken;
    },
    onFirst() {},
    forget(workspaceId) {
      size -= noted.get(workspaceId)?.size ?? 0;
      noted.delete(workspaceId);
    },
  };
  return ledger;
}
