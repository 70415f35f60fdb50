/** Once a minute, a workspace's first ones within a second (SPEC D62.2). */
import { within } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import type { PeerNotes, SeenPeer } from '../../ports/stored/peer-store.ts';
import { everyMinute, soon } from '../../schedule/debounce.ts';
import { oneByOne } from '../../serial.ts';

/** Timeout of the last write, ms. */
const LAST = 3_000;

/** Returns its stop. `now`: ms. */
export function startPeerWriter(
  ledger: PeerNotes,
  store: Pick<Store, 'notePeers' | 'workspacesWithEndedPeers'>,
  log: Log,
  now: () => number,
): () => Promise<void> {
  const inTurn = oneByOne();
  let failed = false;

  async function write(seen: ReadonlyMap<string, readonly SeenPeer[]>, ended: readonly string[] = []): Promise<void> {
    for (const workspaceId of new Set([...seen.keys(), ...ended])) {
      try {
        await store.notePeers(workspaceId, seen.get(workspaceId) ?? []);
        failed = false;
      } catch (error) {
        ledger.forget(workspaceId);
        if (!failed) log('warn', `the addresses of own clients could not be written: ${(error as Error).message}`);
        failed = true;
      }
    }
  }

  const early = soon(() => inTurn(() => write(ledger.takeFirst())));
  ledger.onFirst = early.ask;
  const stop = everyMinute(() => inTurn(async () => write(ledger.take(), await store.workspacesWithEndedPeers(now()).catch(() => []))));
  return () => {
    early.stop();
    return within(stop(), LAST, 'the store').catch(() => {});
  };
}
