/** Devices as JSON has them. */
import { isoTime } from '../../clock.ts';
import type { Device } from '../../ports/devices.ts';
import type { Names } from '../rules/rule-json.ts';

/** A device; `keys`: the names of keys. */
export const deviceJson = (device: Device, keys: Names['keys']) => ({
  id: device.id,
  key_id: device.keyId,
  key_name: keys.get(device.keyId) ?? null,
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
});
