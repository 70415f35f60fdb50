/** What pulls: devices that poll feeds, and bouncers. */
import { Type } from 'typebox';
import { isoTime } from '../../clock.ts';
import { gapOf } from '../../feed/enforcement-gap.ts';
import type { Bouncer } from '../../ports/bouncer-store.ts';
import type { Device } from '../../ports/devices.ts';
import { type Operation, operation } from '../operation.ts';
import { MOST_ITEMS, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';

/** The ids of devices. */
const BY_ID = /^[\w-]{1,100}$/;

/** A device as JSON has it. */
export const deviceJson = (device: Device) => ({
  id: device.id,
  key_id: device.keyId,
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

/** A bouncer as JSON has it. */
export const bouncerJson = (bouncer: Bouncer) => ({
  user_agent: bouncer.userAgent,
  address: bouncer.address,
  key_id: bouncer.keyId,
  feed_id: bouncer.feedId,
  first_seen: isoTime(bouncer.firstSeen),
  last_pull: isoTime(bouncer.lastPull),
  decisions: bouncer.decisions,
  networks: bouncer.networks,
  left_out_networks: bouncer.leftOutNetworks,
  left_out_addresses: bouncer.leftOutAddresses,
  cannot_enforce: gapOf(bouncer)?.text ?? null,
  usage_metrics: bouncer.metrics === null ? null : (JSON.parse(bouncer.metrics) as object),
  usage_metrics_at: isoTime(bouncer.metricsAt),
});

const DEVICE_EXAMPLE = {
  id: 'Ju3VgNEgCQ0bPzPQ3aGpYA',
  key_id: '0195a3c0-0000-7000-8000-000000000002',
  user_agent: 'PAN-OS',
  address: '198.51.100.7',
  first_pull: '2026-11-20T10:00:00.000Z',
  last_pull: '2026-11-22T09:59:31.000Z',
  last_status: 304,
  pulls: 2880,
  interval_seconds: 60,
  answers: { '200': 12, '304': 2868, '4xx': 0, '5xx': 0 },
  sends_validators: true,
  stopped_at: null,
  documents: [],
};
const BOUNCER_EXAMPLE = {
  user_agent: 'crowdsec-firewall-bouncer/v0.0.34',
  address: '198.51.100.8',
  key_id: '0195a3c0-0000-7000-8000-000000000002',
  feed_id: null,
  first_seen: '2026-11-20T10:00:00.000Z',
  last_pull: '2026-11-22T09:59:31.000Z',
  decisions: 1200,
  networks: 1200,
  left_out_networks: 0,
  left_out_addresses: 0,
  cannot_enforce: null,
  usage_metrics: null,
  usage_metrics_at: null,
};

const optional = Type.Union([Type.String(), Type.Null()]);
const DeviceSchema = Type.Object({
  id: Type.String(),
  key_id: Type.String(),
  user_agent: Type.String(),
  address: Type.String(),
  first_pull: Type.String({ format: 'date-time' }),
  last_pull: Type.String({ format: 'date-time' }),
  last_status: Type.Integer(),
  pulls: Type.Integer(),
  interval_seconds: Type.Union([Type.Integer(), Type.Null()], { description: 'How often it usually pulls.' }),
  answers: Type.Record(Type.String(), Type.Integer(), { description: 'Its pulls by status.' }),
  sends_validators: Type.Boolean({ description: 'Whether it ever asked for what is new only.' }),
  stopped_at: Type.Union([Type.String(), Type.Null()], { description: 'Since when it is overdue.' }),
  documents: Type.Array(Type.Unsafe<unknown>({ type: 'object' }), { description: 'What it has of each feed, and how far that is behind.' }),
});
const BouncerSchema = Type.Object({
  user_agent: Type.String(),
  address: Type.String(),
  key_id: Type.String(),
  feed_id: optional,
  first_seen: Type.String({ format: 'date-time' }),
  last_pull: optional,
  decisions: Type.Integer(),
  networks: Type.Integer(),
  left_out_networks: Type.Integer(),
  left_out_addresses: Type.Integer(),
  cannot_enforce: optional,
  usage_metrics: Type.Unsafe<unknown>({ description: 'As it sent them; null: none.' }),
  usage_metrics_at: optional,
});

export const DEVICE_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'listDevices',
    summary: 'What pulls feeds: key, address, answers, and how far behind its content is; in the order of ids',
    method: 'GET',
    path: '/devices',
    permission: 'rules:read',
    query: Type.Object({
      ...PAGE_QUERY,
      key: Type.Optional(Type.String({ maxLength: 36, format: 'text', description: 'Only those with this key, by its id.' })),
    }),
    answer: pageSchema('Devices', 'devices', DeviceSchema, DEVICE_EXAMPLE),
    audit: null,
    async run({ store, workspaceId }, { query }) {
      const { after, limit } = pageRequest(query, BY_ID);
      const which = { ...(after !== null && { after }), ...(query.key !== undefined && { keyId: query.key }) };
      const devices = await store.devices(workspaceId, { ...which, limit: limit + 1 });
      const items = devices.slice(0, limit);
      return { items, next: devices.length > limit ? items.at(-1)!.id : null };
    },
    show: (page) => ({ body: pageBody('devices', page, deviceJson) }),
  }),
  operation({
    name: 'listBouncers',
    summary: 'The bouncers of the last 30 days, and what they cannot enforce; 1,000 at most',
    method: 'GET',
    path: '/bouncers',
    permission: 'rules:read',
    answer: Type.Object({ bouncers: Type.Array(BouncerSchema) }, { title: 'Bouncers', examples: [{ bouncers: [BOUNCER_EXAMPLE] }] }),
    audit: null,
    run: ({ store, workspaceId }) => store.bouncers(workspaceId),
    show: (bouncers) => ({ body: { bouncers: bouncers.slice(0, MOST_ITEMS).map(bouncerJson) } }),
  }),
];
