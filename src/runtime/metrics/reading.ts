/** What the metrics of a process are read from: asked for once a page (SPEC D12.3). */
import { within } from '../../clock.ts';
import type { CachedFeed } from '../../feed/serve/cache.ts';
import type { GeoData } from '../../geo/data.ts';
import type { Check, Readiness } from '../../ports/health.ts';
import type { HttpCounts } from '../../ports/http-counts.ts';
import type { BuildCounts } from './builds.ts';
import { labelsOf, type RememberedLabels } from './exposition.ts';
import type { ProcessReading, ProcessWatch } from './process.ts';
import type { MeasuredSource } from './sources.ts';

/** Where the metrics are read. What this process does not do is undefined, and its metrics are left out. */
export interface MetricSources {
  readonly http: HttpCounts;
  /** What `/readyz` shows. */
  readonly readiness: Readiness;
  /** How many messages this process has landed. */
  readonly landed: (() => Promise<number>) | undefined;
  /** The dead letters in the store, counted up to a limit. */
  readonly deadLetters: (() => Promise<number>) | undefined;
  readonly builds: BuildCounts | undefined;
  readonly feeds: { held(): Iterable<CachedFeed>; bodyBytes(): number } | undefined;
  /** How many keys are in use and end within 14 days. */
  readonly endingKeys: (() => number | undefined) | undefined;
  /** How many devices pull regularly, and how many have stopped within a day. */
  readonly devices: (() => { readonly pulling: number; readonly stopped: number } | undefined) | undefined;
  /** The sources that this process refreshes. */
  readonly sources: (() => readonly MeasuredSource[]) | undefined;
  readonly geo: () => GeoData;
  /** When the certificate of the service ends, ms since 1970. */
  readonly certificateExpiry: (() => number) | undefined;
  readonly process: Pick<ProcessWatch, 'read'>;
  /** ms since 1970. */
  readonly now: () => number;
}

/** What is asked for before the page is written: a source that did not answer is undefined. */
export interface Reading extends Omit<MetricSources, 'readiness' | 'landed' | 'deadLetters' | 'process' | 'feeds' | 'sources'> {
  readonly checks: Readonly<Record<string, Check>>;
  readonly landed: number | undefined;
  readonly deadLetters: number | undefined;
  readonly feeds: readonly CachedFeed[] | undefined;
  /** The labels of those that have series of their own, by their place. */
  readonly feedLabels: readonly string[];
  readonly bodyBytes: number | undefined;
  readonly process: ProcessReading;
  readonly sources: readonly MeasuredSource[];
  readonly sourceLabels: RememberedLabels;
  /** By UUID: there may be thousands on a page, and they never change. */
  readonly listLabels: RememberedLabels;
}

/** Lists and feeds that have series of their own in each metric; further ones are summed in one more. */
export const MOST_SERIES = 1000;
export const OTHER = 'other';
/** Labels that are remembered: those of a page, and of some that it had before. */
export const LABELS_REMEMBERED = 2 * MOST_SERIES;
/** How long a source may take, ms; the page does without what takes longer. */
const PATIENCE = 500;
/** What stands for the feed of a whole workspace in the label of a feed. */
const WORKSPACE_FEED = 'workspace';

export async function readAll(
  sources: MetricSources,
  { listLabels, feedLabels, sourceLabels }: Record<'listLabels' | 'feedLabels' | 'sourceLabels', RememberedLabels>,
): Promise<Reading> {
  const inTime = (ask: (() => Promise<number>) | undefined) => ask && within(ask(), PATIENCE, 'a source').catch(() => undefined);
  const [checks, process, landed, deadLetters] = await Promise.all([
    sources.readiness(),
    sources.process.read(),
    inTime(sources.landed),
    inTime(sources.deadLetters),
  ]);
  const feeds = sources.feeds && [...sources.feeds.held()];
  return {
    ...sources,
    listLabels,
    checks,
    process,
    landed,
    deadLetters,
    feeds,
    sources: sources.sources?.() ?? [],
    sourceLabels,
    bodyBytes: sources.feeds?.bodyBytes(),
    feedLabels: (feeds ?? [])
      .slice(0, MOST_SERIES)
      .map(({ workspaceId: workspace, feedId }) =>
        feedLabels(feedId ?? workspace, () => labelsOf({ workspace, feed: feedId ?? WORKSPACE_FEED })),
      ),
  };
}
