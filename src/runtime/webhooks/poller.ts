/** Changes for the webhooks of a workspace or the service, as messages (SPEC D27.2, D27.3). */
import { randomUUID } from 'node:crypto';
import type { Author } from '../../account/caller.ts';
import { areOff, type ServiceGuardRails } from '../../account/guard-rails.ts';
import { type Announced, SERVICE_WEBHOOK, type Webhook, type WebhookMessage, type WebhookStyle } from '../../account/webhook.ts';
import { type Alert, alertsOf } from '../../manage/alerts.ts';
import type { ServiceStatus } from '../../manage/context.ts';
import { factsOf, NOT_READ, type ProcessStatus, type StatusParts } from '../../manage/status.ts';
import { workspaceParts } from '../../manage/workspace-status.ts';
import type { Store } from '../../ports/store.ts';
import type { Happened, LogUpdate, WebhookState } from '../../ports/stored/webhook-store.ts';
import { differenceOf, type Found } from '../../webhook/changes.ts';
import { happenedSince } from '../../webhook/events.ts';
import { isAnnouncedIn } from '../../webhook/message.ts';
import { GATHER } from '../../webhook/schedule.ts';
import { REPORT_LIFETIME, type Report } from './heartbeat.ts';

/** Audit rows and undos; from half of it the position is stored even without a message. */
const ROWS = 1000;
/** Counted dead letters. */
const MOST_LETTERS = 1000;

export interface PollPorts {
  readonly store: Store;
  readonly guardRails: ServiceGuardRails;
  readonly service: Pick<ServiceStatus, 'engines' | 'geo'>;
  /** undefined: the service has no webhook. */
  readonly ownStyle: WebhookStyle | undefined;
  readonly now: () => number;
}

export interface Reported {
  readonly processes: readonly ProcessStatus[];
  readonly known: ReadonlySet<string>;
}

export async function readReports(store: Pick<Store, 'ping' | 'processReports'>): Promise<Reported> {
  const reports = (await store.processReports((await store.ping()) - REPORT_LIFETIME)).map(({ report }) => JSON.parse(report) as Report);
  return { processes: reports.map(({ status }) => status), known: new Set(reports.flatMap(({ known }) => known)) };
}

/** null: the service's. `sentElsewhere`: sent during an outage. */
export async function pollWorkspace(
  ports: PollPorts,
  workspaceId: string | null,
  reported: Reported,
  sentElsewhere: Announced['items'] = {},
): Promise<LogUpdate[]> {
  const { store, now, ownStyle } = ports;
  const states = await store.webhookStates(workspaceId);
  if (workspaceId === null && states.length === 0)
    states.push({ id: SERVICE_WEBHOOK, announced: NOTHING_ANNOUNCED, isWaiting: false, lastAt: 0 });
  const ready = states.filter(({ isWaiting, lastAt }) => !isWaiting && !(now() - lastAt < GATHER && now() >= lastAt));
  if (ready.length === 0) return [];
  const parts = await (workspaceId === null
    ? serviceParts(ports, reported.processes)
    : workspaceParts({ ...ports, workspaceId }, ports.service, reported.processes));
  // After a start other processes may not have reported yet.
  const items = alertsOf(factsOf(parts)).filter(({ key }) => key !== 'processes');
  const deleted = workspaceId === null ? new Set<string>() : await deletedFeeds(store, workspaceId, ready);
  const isKnown = isKnownBy(reported.known, deleted);
  const webhooks = workspaceId === null ? [] : await store.webhooks(workspaceId);
  const updates: LogUpdate[] = [];
  for (const state of ready) {
    const style = workspaceId === null ? ownStyle : webhooks.find(({ id }) => id === state.id)?.style;
    const announced = { ...state.announced, items: { ...state.announced.items, ...sentElsewhere } };
    // Not about itself: it would fail again or be outdated.
    const found = { items: items.filter(({ key }) => key !== `webhook/${state.id}`), isKnown };
    if (style !== undefined) updates.push(...(await updateOf(ports, workspaceId, { ...state, announced }, { style, found })));
  }
  return updates;
}

const NOTHING_ANNOUNCED: Announced = { items: {}, audit: 0, seen: [], seq: 0 };
const NOTHING_HAPPENED: Happened = { audit: [], undone: [] };

async function updateOf(
  { store, now }: PollPorts,
  workspaceId: string | null,
  { id, announced }: WebhookState,
  { style, found }: { readonly style: Webhook['style']; readonly found: Found },
): Promise<LogUpdate[]> {
  const at = now();
  const happened = workspaceId === null ? NOTHING_HAPPENED : await store.happened(workspaceId, announced, ROWS);
  const nameOf = await namesIn(store, workspaceId, happened);
  const difference = differenceOf(announced.items, found, at);
  const news = happenedSince(announced, happened, nameOf, at);
  const changes = [...difference.changes, ...news.changes];
  const after: Announced = { ...news.announced, items: difference.items };
  if (changes.length > 0 && isAnnouncedIn(style, changes)) return [{ id, announced: after, message: messageOf(changes, found.items, at) }];
  const isWritten =
    changes.length > 0 || happened.audit.length >= ROWS / 2 || JSON.stringify(difference.items) !== JSON.stringify(announced.items);
  return isWritten ? [{ id, announced: after }] : [];
}

function messageOf(changes: WebhookMessage['changes'], items: readonly Alert[], at: number): WebhookMessage {
  const there = [...new Map(items.map((item) => [item.key, item])).values()];
  return { id: randomUUID(), at, changes, attention: there.length, urgent: there.filter(({ urgent }) => urgent).length, tries: 0 };
}

/** Unknown without reports, unless deleted; anything else is known if it was requested. */
const isKnownBy =
  (known: ReadonlySet<string>, deleted: ReadonlySet<string>): Found['isKnown'] =>
  (key) =>
    !key.startsWith('feed/') || known.has(key.slice(0, key.lastIndexOf('/'))) || deleted.has(feedIn(key));

/** UUID in an event key, or `workspace`. */
const feedIn = (key: string) => key.split('/')[2]!;

/** Among those in messages, up to a limit. */
async function deletedFeeds(store: Pick<Store, 'findNamed'>, workspaceId: string, states: readonly WebhookState[]): Promise<Set<string>> {
  const announced = states.flatMap(({ announced: { items } }) => Object.keys(items).filter((key) => key.startsWith('feed/')));
  const deleted = new Set<string>();
  for (const id of [...new Set(announced.map(feedIn))].filter((each) => each !== 'workspace').slice(0, 100)) {
    const named = await store.findNamed(workspaceId, id);
    if (named === undefined || named.lists.length + named.feeds.length === 0) deleted.add(id);
  }
  return deleted;
}

async function namesIn(store: Pick<Store, 'key'>, workspaceId: string | null, { audit, undone }: Happened) {
  const names = new Map<string, string>();
  const keys = new Set([...audit, ...undone].flatMap(({ by: { keyId } }) => keyId ?? []));
  // Few keys change something within a minute.
  for (const key of [...keys].slice(0, 50)) {
    const found = workspaceId === null ? undefined : await store.key(workspaceId, key);
    if (found !== undefined) names.set(key, `the key ${JSON.stringify(found.name ?? found.prefix)}`);
  }
  return ({ keyId, actor }: Author): string =>
    [...(actor === null ? [] : [JSON.stringify(actor)]), ...(keyId === null ? [] : [names.get(keyId) ?? `the key ${keyId}`])].join(
      ' with ',
    ) || 'a command';
}

async function serviceParts({ store, service, guardRails }: PollPorts, processes: readonly ProcessStatus[]): Promise<StatusParts> {
  const { country, asn } = service.geo();
  const stream = processes.map(({ checks }) => checks.stream).find((check) => check !== undefined && !check.ok);
  const isOff = areOff(guardRails);
  return {
    store: { kind: service.engines.store, ok: true },
    stream: { kind: service.engines.stream, ok: stream === undefined, ...(stream?.reason !== undefined && { reason: stream.reason }) },
    processes: processes.map((process) => ({ ...process, feeds: [] })),
    lag: null,
    geo: { country: country.age_days, asn: asn.age_days },
    deadLetters: await store.deadLetterCount(MOST_LETTERS),
    ...NOT_READ,
    unguarded: isOff ? (await store.workspaces()).filter(areOff).map(({ name }) => name) : [],
    workspaces: new Map(),
  };
}
