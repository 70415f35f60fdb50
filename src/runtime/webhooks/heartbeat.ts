/** What a process knows and no store does, for whoever sends webhooks: it may be another one, on another machine (SPEC D27.8). */
import type { WatchedFeed } from '../../feed/monitor/feed-watch.ts';
import { feedKey } from '../../manage/alerts.ts';
import type { ProcessStatus } from '../../manage/status.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { shared } from '../../serial.ts';
import { subscribedWorkspaces } from './subscribers.ts';

/** How often a process looks whether it has something to report, and says that it is still there, ms. */
const [LOOK, STILL] = [5_000, 20_000];
/** A process that has said nothing for so long is not there, ms. */
export const GONE = 60_000;
/** Feeds of a report: those with events, and those that are known to have none. */
const [MOST_OPEN, MOST_KNOWN] = [500, 5_000];

/** The status of a process, its feeds being those with events, and the variants of feeds that it knows. */
export interface Report {
  readonly status: ProcessStatus;
  readonly known: readonly string[];
}

type Ports = Pick<Store, 'webhookRevision' | 'subscribedWorkspaces' | 'reportProcess'>;

/** Begins to report as long as anybody has a webhook. `hasOwn`: the service has one. Returns what ends it. */
export function startReports(
  store: Ports,
  process: string,
  own: () => Promise<ProcessStatus>,
  { hasOwn, log }: { readonly hasOwn: boolean; readonly log: Log },
): { look(): Promise<void>; stop(): Promise<void> } {
  const hooked = subscribedWorkspaces(store);
  const looking = shared<void>();
  let [written, writtenAt] = ['', Number.NEGATIVE_INFINITY];
  let isOver = false;

  async function write(): Promise<void> {
    const workspaces = await hooked();
    if (isOver || (!hasOwn && workspaces.size === 0)) return;
    const text = JSON.stringify(reportOf(await own(), workspaces));
    if (text === written && performance.now() - writtenAt < STILL) return;
    await store.reportProcess(process, text);
    [written, writtenAt] = [text, performance.now()];
  }
  const look = () =>
    // A store that is away is told of by others.
    looking(write).catch((error: unknown) => log('debug', `nothing could be reported for webhooks: ${(error as Error).message}`));
  const timer = setInterval(() => void look(), LOOK).unref();
  return {
    look,
    async stop() {
      isOver = true;
      clearInterval(timer);
      await looking(async () => undefined).catch(() => undefined);
      if (written !== '') await store.reportProcess(process, null).catch(() => undefined);
    },
  };
}

/** What of a process's status is reported. */
function reportOf(status: ProcessStatus, workspaces: ReadonlySet<string>): Report {
  const feeds = status.feeds.filter(({ workspaceId }) => workspaces.has(workspaceId));
  return {
    status: { ...status, feeds: feeds.filter(({ open }) => open.length > 0).slice(0, MOST_OPEN) },
    known: feeds.slice(0, MOST_KNOWN).map(variantOf),
  };
}

const variantOf = ({ workspaceId, feedId, ...feed }: WatchedFeed) => feedKey({ ...feed, workspace_id: workspaceId, id: feedId });
