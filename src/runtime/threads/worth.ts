/** What lists are worth, as the main thread sees it: counted on a thread of its own, for all who ask at once (SPEC D30.5). */
import { createHash } from 'node:crypto';
import type { ServiceGuardRails } from '../../account/guard-rails.ts';
import type { WorkspaceWorth, WorthCounter } from '../../document/worth/worth.ts';
import { WeirError } from '../../errors.ts';
import type { GeoData } from '../../geo/data.ts';
import type { StoreReads } from '../../ports/store.ts';
import { oneByOne, shared } from '../../serial.ts';
import type { Config } from '../../settings/settings.ts';
import { threadAnswer } from './thread-answer.ts';

/** What the thread works with. */
export interface WorthData {
  readonly workspaceId: string;
  readonly listId: string | null;
  readonly settings: Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly guardRails: ServiceGuardRails;
  readonly geo: GeoData;
}

/** Counts at once, and those that are asked for, running ones included, in all and of a workspace. */
const RUNNING = 2;
const ASKED = { inAll: 32, ofWorkspace: 4 };
const THREAD = { name: 'worth', doing: 'counting what lists are worth', time: 180_000, memory: 512 };
/** Answers that are kept, in all and of a workspace, and for how long, ms: the age of detections moves without a change. */
const KEPT = { inAll: 32, ofWorkspace: 4 };
const FRESH = 600_000;

interface Kept {
  readonly workspaceId: string;
  readonly version: string;
  readonly at: number;
  readonly worth: WorkspaceWorth;
}

interface Options extends Pick<WorthData, 'settings' | 'guardRails'> {
  readonly store: Pick<StoreReads, 'findNamed' | 'feeds'>;
  readonly geo: () => GeoData;
  /** ms */
  readonly now?: () => number;
  /** Counts; a thread of its own where absent. */
  readonly count?: (data: WorthData) => Promise<WorkspaceWorth>;
}

const onThread = (data: WorthData) => threadAnswer<WorkspaceWorth>(new URL('./worth.thread.ts', import.meta.url), data, THREAD);

export function worthCounter({ store, settings, guardRails, geo, now = Date.now, count = onThread }: Options): WorthCounter {
  const once = shared<WorkspaceWorth>();
  const inTurn = oneByOne();
  const kept = new Map<string, Kept>();
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  let running = 0;

  /** What an answer follows from, but for the time. */
  async function versionOf(workspaceId: string, listId: string | null): Promise<string> {
    const revision = (await store.findNamed(workspaceId, ''))?.revision;
    const feeds = listId === null ? [] : await store.feeds(workspaceId);
    return createHash('sha256')
      .update(JSON.stringify([revision, geo().version, feeds]))
      .digest('hex');
  }

  /** One of a workspace at a time, and so many in all, in the order in which they were asked for. */
  async function inLine<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
    const own = asked.filter((each) => each === workspaceId).length;
    if (own >= ASKED.ofWorkspace || asked.length >= ASKED.inAll)
      throw new WeirError('LIMITED', 'the worth of too many lists is being counted at this time', { cause: { retryAfter: 10 } });
    asked.push(workspaceId);
    try {
      return await inTurn(async () => {
        if (running >= RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
        else running += 1;
        try {
          return await work();
        } finally {
          const next = waiting.shift();
          if (next === undefined) running -= 1;
          else next();
        }
      }, workspaceId);
    } finally {
      asked.splice(asked.indexOf(workspaceId), 1);
    }
  }

  function keep(key: string, worth: Kept): void {
    kept.delete(key);
    kept.set(key, worth);
    const own = [...kept].filter(([, { workspaceId }]) => workspaceId === worth.workspaceId);
    if (own.length > KEPT.ofWorkspace) kept.delete(own[0]![0]);
    if (kept.size > KEPT.inAll) kept.delete(kept.keys().next().value!);
  }

  return (workspaceId, listId) => {
    const key = `${workspaceId} ${listId}`;
    return once(async () => {
      const version = await versionOf(workspaceId, listId);
      const known = kept.get(key);
      if (known !== undefined && known.version === version && known.at > now() - FRESH) return known.worth;
      const worth = await inLine(workspaceId, () => count({ workspaceId, listId, settings, guardRails, geo: geo() }));
      keep(key, { workspaceId, version, at: now(), worth });
      return worth;
    }, key);
  };
}
