/** Runs one trial of a source: fetched as sources are, compared with what the store has (SPEC D23.41). */
import { blockGuards, type ServiceGuardRails } from '../../account/guard-rails.ts';
import { collectionOf } from '../../account/source.ts';
import { systemClock } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type TryJob, type TryReport, trySource } from '../../source/try-source.ts';
import { readPieces } from './content-pieces.ts';
import { type FetchSettings, fetchOf } from './fetching.ts';

/** How long fetching may take, s, and comparing with lists and feeds, ms. */
const FETCH_SECONDS = 30;
const COMPARE = 20_000;

export interface TryParts {
  /** Where its download is; the caller removes it. */
  readonly folder: string;
  readonly settings: FetchSettings;
  readonly store: Pick<StoreReads, 'workspace' | 'snapshot' | 'directory' | 'feeds'>;
  readonly geo: GeoDatabase;
  readonly guardRails: ServiceGuardRails;
  readonly onStep: (text: string) => void;
}

/** Tries. Rejects with NOT_FOUND where the workspace is gone, and when the store does not answer. */
export async function runTrial(job: TryJob, { folder, settings, store, geo, guardRails, onStep }: TryParts): Promise<TryReport> {
  const workspace = await store.workspace(job.workspaceId);
  if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
  const { content, listId, credentials } = job;
  const seconds = Math.min(FETCH_SECONDS, settings.sourceSeconds);
  const fetch = fetchOf({ ...settings, sourceSeconds: seconds }, folder, systemClock.now);
  return await trySource(
    { workspace, content, listId },
    {
      ...{ store, geo, onStep, clock: systemClock, limit: COMPARE, mostBytes: settings.sourceMaxMb * 1024 * 1024 },
      guard: blockGuards(guardRails)(workspace),
      async fetch() {
        const answer = await fetch({
          ...{ url: content.url, credentials, known: undefined, signal: new AbortController().signal },
          taxii: collectionOf(content.reading),
        });
        if (answer.kind === 'unchanged') return { kind: 'refused', status: 304 };
        if (answer.kind === 'refused') return answer;
        const { file, bytes, validators, endsWithLineFeed } = answer;
        return { kind: 'fetched', bytes, lastModified: validators.lastModified, endsWithLineFeed, open: () => readPieces(file) };
      },
    },
  );
}
