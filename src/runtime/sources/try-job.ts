/** Runs one trial of a source against the store (SPEC D23.41). */
import { blockGuards, type ServiceGuardRails } from '../../account/guard-rails.ts';
import { collectionOf } from '../../account/source.ts';
import { systemClock } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { readPieces, type SourceAnswer, type SourceRequest } from '../../fetch/content-file.ts';
import type { Before } from '../../fetch/exchange.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import { signedAfter } from '../../source/signed-feed.ts';
import { type TryJob, type TryReport, trySource } from '../../source/try-source.ts';
import { type FetchSettings, fetchOf } from './fetching.ts';
import type { Visits } from './visits.ts';

/** Limits: fetching, s; comparison, ms. */
const FETCH_SECONDS = 30;
const COMPARE = 20_000;

export const trialRequest = ({ content, credentials }: TryJob): Omit<SourceRequest, 'signal'> => ({
  ...{ url: content.url, credentials, known: undefined, taxii: collectionOf(content.reading) },
  signed: signedAfter(content.reading, 0),
});

/** Precedes the sources of its workspace. */
export const trialVisit = (visits: Visits, { workspaceId, content }: TryJob) =>
  visits.begin(content.url, {
    ...{ workspaceId, order: Number.NEGATIVE_INFINITY, isCollection: collectionOf(content.reading) !== undefined },
    ...{ isTrial: true, mayBegin: () => true },
  });

/** Transferable to another thread. */
export type TriedAnswer =
  | Omit<Extract<SourceAnswer, { kind: 'fetched' }>, keyof AsyncDisposable>
  | Exclude<SourceAnswer, { kind: 'fetched' }>;

/** Rejects with FETCH and LIMITED. */
export const fetchTried = (job: TryJob, settings: FetchSettings, folder: string, before: Before): Promise<SourceAnswer> =>
  fetchOf(
    { ...settings, sourceSeconds: Math.min(FETCH_SECONDS, settings.sourceSeconds) },
    folder,
    systemClock.now,
  )({
    ...{ ...trialRequest(job), before, signal: new AbortController().signal },
  });

export interface TryParts {
  /** Unpacked limit, MiB. */
  readonly settings: Pick<FetchSettings, 'sourceMaxMb'>;
  readonly store: Pick<StoreReads, 'workspace' | 'snapshot' | 'directory' | 'feeds'>;
  readonly geo: GeoDatabase;
  readonly guardRails: ServiceGuardRails;
  readonly onStep: (text: string) => void;
  readonly fetch: () => Promise<TriedAnswer>;
}

/** Rejects with NOT_FOUND (workspace deleted), LIMITED (host not free), and on store failures. */
export async function runTrial(
  { workspaceId, content, listId }: TryJob,
  { settings, store, geo, guardRails, onStep, fetch }: TryParts,
): Promise<TryReport> {
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
  return await trySource(
    { workspace, content, listId },
    {
      ...{ store, geo, onStep, clock: systemClock, limit: COMPARE, mostBytes: settings.sourceMaxMb * 1024 * 1024 },
      guard: blockGuards(guardRails)(workspace),
      async fetch() {
        const answer = await fetch();
        if (answer.kind === 'unchanged') return { kind: 'refused', status: 304 };
        if (answer.kind === 'refused') return answer;
        const { file, bytes, validators, endsWithLineFeed } = answer;
        return { kind: 'fetched', bytes, lastModified: validators.lastModified, endsWithLineFeed, open: () => readPieces(file) };
      },
    },
  );
}
