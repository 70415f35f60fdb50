/** Reports to the process that sends webhooks (SPEC D27.8). */
import type { WatchedFeed } from '../../feed/monitor/feed-watch.ts';
import { feedKey } from '../../manage/alerts.ts';
import type { ProcessStatus } from '../../manage/status.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { shared } from '../../serial.ts';
import { subscribedWorkspaces } from './subscribers.ts';

/** Check interval and heartbeat, ms. */
const [LOOK, STILL] = [5_000, 20_000];
/** A process silent for this time has ended, ms. */
export const REPORT_LIFETIME = 60_000;
/** Feeds per report: with events, and without. */
const [MOST_OPEN, MOST_KNOWN] = [500, 5_000];

/** Only feeds with events, and the variants it knows. */
export interface Report {
  readonly status: ProcessStatus;
  readonly known: readonly string[];
}

type Ports = Pick<Store, 'webhookRevision' | 'subscribedWorkspaces' | 'reportProcess'>;

/** While any webhook exists. `hasOwn`: the service has one. Returns a stop function. */
export function startReports(
  store: Ports,
  process: string,
  own: () => Promise<ProcessStatus>,
  { hasOwn, log }: { readonly hasOwn: boolean; readonly log: Log },
): { look(): Promise<void>; stop(): Promise<void> } {
  const subscribed = subscribedWorkspaces(store);
  const looking = shared<void>();
  let [written, writtenAt] = ['', Number.NEGATIVE_INFINITY];
  let isOver = false;

  async function write(): Promise<void> {
    const workspaces = await subscribed();
    if (isOver || (!hasOwn && workspaces.size === 0)) return;
    const text = JSON.stringify(reportOf(await own(), workspaces));
    if (text === written && performance.now() - writtenAt < STILL) return;
    await store.reportProcess(process, text);
    [written, writtenAt] = [text, performance.now()];
  }
  const look = () =>
    // Others report store failures.
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

function reportOf(status: ProcessStatus, workspaces: ReadonlySet<string>): Report {
  const feeds = status.feeds.filter(({ workspaceId }) => workspaces.has(workspaceId));
  return {
    status: { ...status, feeds: feeds.filter(({ open }) => open.length > 0).slice(0, MOST_OPEN) },
    known: feeds.slice(0, MOST_KNOWN).map(variantOf),
  };
}

const variantOf = ({ workspaceId, feedId, ...feed }: WatchedFeed) => feedKey({ ...feed, workspace_id: workspaceId, id: feedId });
