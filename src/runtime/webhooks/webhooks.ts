/** One process polls and sends each message until delivery, for up to a day (SPEC D27). */
import { type Announced, FAILING_TRIES, SERVICE_WEBHOOK } from '../../account/webhook.ts';
import { DAY } from '../../clock.ts';
import { hasCode } from '../../errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Lease } from '../../ports/stored/source-store.ts';
import type { DeliveryUpdate, DueMessage } from '../../ports/stored/webhook-store.ts';
import { shared } from '../../serial.ts';
import { nextTry } from '../../webhook/schedule.ts';
import { type SendPorts, sendMessage, type Tried } from '../../webhook/send.ts';
import type { OwnedLease } from '../sources/lease.ts';
import { type Outage, type OwnWebhook, reportOutage } from './outage.ts';
import { type PollPorts, pollWorkspace, readReports } from './poller.ts';
import { subscribedWorkspaces } from './subscribers.ts';

/** Interval, ms, and workspaces per poll, in rotation. */
const [POLL_INTERVAL, MOST_POLLED] = [5_000, 200];
/** Messages in all and per workspace. */
const [MOST_PARALLEL, MOST_OF_WORKSPACE] = [32, 2];

/** A service message without a receiver. */
const NO_RECEIVER: Tried = { isDelivered: false, status: null, retryAfter: undefined, ms: 0, text: 'WEBHOOK_URL is not set' };

export interface WebhookPorts extends PollPorts {
  readonly send: SendPorts;
  readonly lease: OwnedLease;
  readonly own: OwnWebhook | undefined;
  readonly monotonic: () => number;
  readonly log: Log;
}

export interface Webhooks {
  /** Polls and starts sending. `isNow`: ignores the interval. */
  tick(isNow?: boolean): Promise<void>;
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export function webhooks(ports: WebhookPorts): Webhooks {
  const { store, lease: election, own, send, now, monotonic, log } = ports;
  const subscribed = subscribedWorkspaces(store);
  const ticking = shared<void>();
  const stopping = new AbortController();
  const sending = new Map<string, { readonly workspace: string; readonly done: Promise<void> }>();
  let polledAt = Number.NEGATIVE_INFINITY;
  /** Whether any webhook exists. */
  let hasWebhooks = own !== undefined;
  let position = 0;
  let lease: Lease | undefined;
  let isSilent = false;
  let lastFault: string | undefined;
  /** At the last poll. */
  let hadLease = false;
  const outage: Outage | undefined = own && reportOutage(own, send, stopping.signal);
  let sentElsewhere: Announced['items'] = {};

  function lost(): void {
    election.lost();
    lease = undefined;
  }

  async function poll(): Promise<void> {
    const all = [...(await subscribed())];
    hasWebhooks = own !== undefined || all.length > 0;
    lease = hasWebhooks ? await election.claim() : undefined;
    hadLease &&= lease !== undefined;
    if (lease === undefined) return;
    if (position >= all.length) position = 0;
    const some = all.slice(position, position + MOST_POLLED);
    position += MOST_POLLED;
    const reported = await readReports(store);
    sentElsewhere = { ...sentElsewhere, ...outage?.answered() };
    hadLease = true;
    let fault: string | undefined;
    for (const workspace of [...(own === undefined ? [] : [null]), ...some]) {
      const updates = await pollWorkspace(ports, workspace, reported, workspace === null ? sentElsewhere : {}).catch((error: Error) => {
        // Errors of one workspace do not affect others.
        if (hasCode(error, 'STORE_UNAVAILABLE')) throw error;
        fault ??= `the events of the workspace ${workspace ?? SERVICE_WEBHOOK} could not be read: ${error.message}`;
        return [];
      });
      if (updates.length > 0 && !(await store.writeLog(lease, updates))) return lost();
      if (workspace === null && updates.length > 0) sentElsewhere = {};
      if (stopping.signal.aborted) return;
    }
    if (fault !== undefined && fault !== lastFault) log('error', fault);
    lastFault = fault;
  }

  async function begin(): Promise<void> {
    if (lease === undefined || sending.size >= MOST_PARALLEL) return;
    for (const due of await store.dueMessages(now(), 4 * MOST_PARALLEL)) {
      const workspace = due.webhook?.workspaceId ?? '';
      const ofIt = [...sending.values()].filter((each) => each.workspace === workspace).length;
      if (sending.size >= MOST_PARALLEL || ofIt >= MOST_OF_WORKSPACE || sending.has(due.id)) continue;
      const done = deliver(due)
        .catch((error: unknown) => log('warn', `a webhook could not be sent: ${(error as Error).message}`))
        .finally(() => sending.delete(due.id));
      sending.set(due.id, { workspace, done });
    }
  }

  async function deliver({ id, webhook, message }: DueMessage): Promise<void> {
    const receiver = webhook ?? (own && { ...own, id: SERVICE_WEBHOOK });
    // Another process may have a receiver, until the message expires.
    if (receiver === undefined && now() < message.at + DAY) return;
    const workspace =
      webhook === undefined ? null : { id: webhook.workspaceId, name: (await store.workspace(webhook.workspaceId))?.name ?? '' };
    const at = now();
    const tried =
      receiver === undefined
        ? NO_RECEIVER
        : await sendMessage(send, receiver, message, { webhook: webhook?.name ?? SERVICE_WEBHOOK, workspace }, stopping.signal);
    if (stopping.signal.aborted) return;
    const again = { ...message, tries: message.tries + 1 };
    const nextAt = tried.isDelivered ? null : nextTry(again, now(), tried.retryAfter);
    const update: DeliveryUpdate = {
      id,
      waits: nextAt === null ? null : { message: again, nextAt },
      delivery: {
        message: message.id,
        at,
        ms: tried.ms,
        status: tried.status,
        outcome: tried.isDelivered ? 'delivered' : nextAt === null ? 'given up' : 'failed',
        text: tried.text,
      },
    };
    if (update.delivery.outcome === 'failed' && again.tries === FAILING_TRIES)
      log('warn', `the webhook ${id} failed ${FAILING_TRIES} times in a row: ${tried.text || tried.status}; see weir webhook show`);
    if (update.delivery.outcome === 'given up')
      log('warn', `a message of the webhook ${id} was dropped after a day: ${tried.text || tried.status}`);
    if (lease !== undefined && !(await store.writeDeliveries(lease, [update]))) lost();
  }

  async function work(isNow: boolean): Promise<void> {
    if (stopping.signal.aborted) return;
    if (isNow || monotonic() - polledAt >= POLL_INTERVAL) {
      polledAt = monotonic();
      await poll();
    }
    await begin();
  }

  return {
    tick: (isNow = false) =>
      ticking(() => work(isNow)).then(
        () => {
          isSilent = false;
        },
        async (error: unknown) => {
          if (hadLease && !stopping.signal.aborted) await outage?.failed(error as Error);
          if (!stopping.signal.aborted && !isSilent) log('warn', `webhooks could not be checked: ${(error as Error).message}`);
          isSilent = true;
        },
      ),
    async idle() {
      while (sending.size > 0) await Promise.all([...sending.values()].map(({ done }) => done));
    },
    async stop() {
      stopping.abort();
      await Promise.all([...sending.values()].map(({ done }) => done));
      await ticking(async () => undefined).catch(() => undefined);
      await election.release().catch(() => undefined);
    },
  };
}
