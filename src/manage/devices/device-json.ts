import { type DeviceRefusal, endsRefusal } from '../../account/device.ts';
import { isoTime } from '../../clock.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type FeedNames, feedNamesIn, keyNames } from '../rules/rule-json.ts';

export interface DeviceNames extends Pick<FeedNames, 'keys' | 'feeds'> {
  readonly feedIds: ReadonlyMap<string, string>;
}

export async function deviceNames(store: Pick<StoreReads, 'names'>, workspaceId: string, devices: readonly Device[]): Promise<DeviceNames> {
  if (devices.every(({ refusals }) => refusals.length === 0))
    return { keys: await keyNames(store, workspaceId), feeds: new Map(), feedIds: new Map() };
  const { keys, feeds } = await feedNamesIn(store, workspaceId);
  return { keys, feeds, feedIds: new Map([...feeds].map(([id, name]) => [name, id])) };
}

/** `feedId` null with a name: no feed has that name. */
export interface NamedRefusal extends DeviceRefusal {
  /** null: the workspace's feed. */
  readonly feedName: string | null;
}

/** Without documents fetched since (SPEC D45.3). */
export function refusalsOf(
  { refusals, documents }: Pick<Device, 'refusals' | 'documents'>,
  { feeds, feedIds }: DeviceNames,
): NamedRefusal[] {
  const named = refusals.map((refusal): NamedRefusal => {
    const { feedId: asked } = refusal;
    if (asked === null) return { ...refusal, feedName: null };
    const id = asked.toLowerCase();
    const feedId = feeds.has(id) ? id : (feedIds.get(asked) ?? null);
    return { ...refusal, feedId, feedName: feeds.get(feedId ?? '') ?? asked };
  });
  return named.filter(
    (refusal) => (refusal.feedId === null && refusal.feedName !== null) || !documents.some((document) => endsRefusal(document, refusal)),
  );
}

export const deviceJson = (device: Device, names: DeviceNames) => ({
  id: device.id,
  key_id: device.keyId,
  key_name: names.keys.get(device.keyId) ?? null,
  user_agent: device.userAgent,
  address: device.address,
  first_pull: isoTime(device.firstPull),
  last_pull: isoTime(device.lastPull),
  last_status: device.lastStatus,
  pulls: device.pulls,
  interval_seconds: device.interval === null ? null : Math.round(device.interval / 1000),
  answers: { '200': device.ok, '304': device.notModified, '4xx': device.refused, '5xx': device.failed },
  sends_validators: device.validates,
  stopped_at: isoTime(device.stoppedAt),
  documents: device.documents.map((document) => ({
    feed_id: document.feedId,
    format: document.format,
    family: document.family,
    action: document.action,
    etag: document.etag,
    last_modified: isoTime(document.lastModified * 1000),
    at: isoTime(document.at),
    behind_seconds: document.newestModified === null ? null : Math.max(0, document.newestModified - document.lastModified),
  })),
  refusals: refusalsOf(device, names).map(({ feedId, feedName, format, family, action, status, since, at, count }) => ({
    ...{ feed_id: feedId, feed_name: feedName, format, family, action, status, since: isoTime(since), at: isoTime(at), count },
  })),
});
