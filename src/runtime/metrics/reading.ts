/** Read once per page (SPEC D12.3). */
import { within } from '../../clock.ts';
import type { CachedFeed } from '../../feed/serve/cache.ts';
import type { GeoData } from '../../geo/data.ts';
import type { Check, Readiness } from '../../ports/health.ts';
import type { HttpCounts } from '../../ports/http-counts.ts';
import type { BuildCounts } from './builds.ts';
import { labelsOf, type RememberedLabels } from './exposition.ts';
import type { ProcessReading, ProcessWatch } from './process.ts';
import type { MeasuredSource } from './sources.ts';

/** undefined: not used by this process; its metrics are omitted. */
export interface MetricSources {
  readonly http: HttpCounts;
  readonly readiness: Readiness;
  /** By this process. */
  readonly landed: (() => Promise<number>) | undefined;
  /** Counted up to a limit. */
  readonly deadLetters: (() => Promise<number>) | undefined;
  readonly builds: BuildCounts | undefined;
  readonly feeds: { cached(): Iterable<CachedFeed>; bodyBytes(): number } | undefined;
  readonly waiting: { readonly size: number } | undefined;
  /** Used keys that end within 14 days. */
  readonly endingKeys: (() => number | undefined) | undefined;
  /** Those that poll regularly, and those stopped within a day. */
  readonly devices: (() => { readonly pulling: number; readonly stopped: number } | undefined) | undefined;
  /** By this process. */
  readonly sources: (() => readonly MeasuredSource[]) | undefined;
  readonly geo: () => GeoData;
  /** ms */
  readonly certificateExpiry: (() => number) | undefined;
  readonly process: Pick<ProcessWatch, 'read'>;
  /** ms */
  readonly now: () => number;
}

/** undefined: no answer in time. */
export interface Reading extends Omit<MetricSources, 'readiness' | 'landed' | 'deadLetters' | 'process' | 'feeds' | 'sources'> {
  readonly checks: Readonly<Record<string, Check>>;
  readonly landed: number | undefined;
  readonly deadLetters: number | undefined;
  readonly feeds: readonly CachedFeed[] | undefined;
  readonly feedLabels: readonly string[];
  readonly bodyBytes: number | undefined;
  readonly process: ProcessReading;
  readonly sources: readonly MeasuredSource[];
  readonly sourceLabels: RememberedLabels;
  /** By UUID: constant, up to thousands per page. */
  readonly listLabels: RememberedLabels;
}

/** Per metric; one more sums up the rest. */
export const MOST_SERIES = 1000;
export const OTHER = 'other';
/** For a page and earlier ones. */
export const LABELS_REMEMBERED = 2 * MOST_SERIES;
/** Timeout per input, ms. */
const PATIENCE = 500;
/** Label value of the workspace's feed. */
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
  const feeds = sources.feeds && [...sources.feeds.cached()];
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
