/** On a thread, shared by concurrent requests (SPEC D30.5). */
import { createHash } from 'node:crypto';
import { hasCode } from '../../errors.ts';
import type { OverlapDetail } from '../../feed/whatif/overlap/detail.ts';
import type { WorkspaceOverlap } from '../../feed/whatif/overlap/overlap.ts';
import type { GeoData } from '../../geo/data.ts';
import type { OverlapCounter } from '../../manage/overlap.ts';
import type { StoreReads } from '../../ports/store.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { shared } from '../../serial.ts';
import { answerOf as answerOnThread } from './job.ts';
import { JOBS } from './table.ts';
import type { OverlapData } from './work/overlap.ts';

/** In all, per workspace, and their age, ms: the age of detections changes without events. */
const CACHED = { inAll: 32, ofWorkspace: 4 };
const FRESH = 600_000;
/** Multiple of its computing time: limits repeated requests to that share of a core. */
const REST = 10;

interface CachedAnswer {
  readonly workspaceId: string;
  readonly version: string;
  /** ms */
  readonly begun: number;
  readonly ended: number;
  readonly outcome: { readonly answer: unknown } | { readonly refusal: Error };
}

interface Options extends Pick<OverlapData, 'settings' | 'guardRails'> {
  readonly store: Pick<StoreReads, 'findNamed' | 'feeds'>;
  readonly geo: () => GeoData;
  /** ms */
  readonly now?: () => number;
  /** Default: on a thread. */
  readonly count?: (data: OverlapData) => Promise<unknown>;
}

/** Rejects with TOO_LARGE (time or memory) and LIMITED (queue). */
export function overlapCounter({
  store,
  settings,
  guardRails,
  geo,
  now = Date.now,
  count = (data) => answerOnThread('overlap', data),
}: Options): OverlapCounter {
  const once = shared<unknown>();
  const line = fairQueue(JOBS.overlap.line);
  const cache = new Map<string, CachedAnswer>();

  /** Version of the inputs, except time. */
  async function versionOf(workspaceId: string, work: OverlapData['work']): Promise<string> {
    const revision = (await store.findNamed(workspaceId, ''))?.revision;
    const feeds = 'detailOf' in work ? await store.feeds(workspaceId) : [];
    return createHash('sha256')
      .update(JSON.stringify([revision, geo().version, feeds]))
      .digest('hex');
  }

  function keep(key: string, one: CachedAnswer): void {
    cache.delete(key);
    cache.set(key, one);
    const own = [...cache].filter(([, { workspaceId }]) => workspaceId === one.workspaceId);
    if (own.length > CACHED.ofWorkspace) cache.delete(own[0]![0]);
    if (cache.size > CACHED.inAll) cache.delete(cache.keys().next().value!);
  }

  function isFresh({ version, begun, ended, outcome }: CachedAnswer, wanted: string): boolean {
    if (now() >= ended + FRESH) return false;
    return version === wanted || 'refusal' in outcome || now() < ended + REST * (ended - begun);
  }

  async function counted(key: string, workspaceId: string, work: OverlapData['work']): Promise<CachedAnswer> {
    const version = await versionOf(workspaceId, work);
    const known = cache.get(key);
    if (known !== undefined && isFresh(known, version)) return known;
    return line(workspaceId, async () => {
      const begun = now();
      const outcome = await count({ workspaceId, work, settings, guardRails, geo: geo() }).then(
        (answer) => ({ answer }),
        (refusal: Error) => {
          if (!hasCode(refusal, 'TOO_LARGE')) throw refusal;
          return { refusal };
        },
      );
      return { workspaceId, version, begun, ended: now(), outcome };
    });
  }

  const answerOf = <T>(workspaceId: string, work: OverlapData['work']): Promise<T> => {
    const key = `${workspaceId} ${JSON.stringify(work)}`;
    return once(async () => {
      const one = await counted(key, workspaceId, work);
      keep(key, one);
      if ('refusal' in one.outcome) throw one.outcome.refusal;
      return one.outcome.answer;
    }, key) as Promise<T>;
  };
  return {
    lists: (workspaceId, selected) => answerOf<WorkspaceOverlap>(workspaceId, { selected }),
    detail: (workspaceId, { id, name }) => answerOf<OverlapDetail>(workspaceId, { detailOf: { id, name } }),
  };
}
