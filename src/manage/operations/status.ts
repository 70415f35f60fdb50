import { ENDING_WORDS } from '../../account/key.ts';
import { answerOf, type Fields, listOf, nullable, objectOf, Type } from '../../json/schema.ts';
import { alertsOf, type Status, serviceStatus } from '../alerts.ts';
import { type Operation, operation } from '../operation.ts';
import { keyNames } from '../rules/rule-json.ts';
import { itemsWith } from '../snoozes.ts';
import { workspaceParts } from '../workspace-status.ts';
import { SNOOZE } from './alerts.ts';

/** URLs of processes concern no workspace. */
function statusBody({ processes, ...status }: Status): object {
  return { ...status, processes: processes.map(({ url: _url, ...process }) => process) };
}

const free = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true });
const someOf = (description: string) => [[], Type.Array(free, { description })] as const;
const STATUS = answerOf('Status', {
  attention: [[], Type.Array(Type.String(), { description: 'One line per alert.' })],
  items: listOf(
    {
      key: ['guard_rails', 'Identifies the subject; stays the same when the text changes.'],
      state: ['off', 'The kind of problem.'],
      text: 'guard rails are off in default (docs/deployment.md)',
      urgent: true,
      snooze: [null, nullable(objectOf(SNOOZE), { description: 'The snooze of the alert.' })],
    },
    { description: 'The alerts, urgent ones first, including snoozed ones.' },
  ),
  urgent: [false, 'Whether an alert is about more than old geo data or keys that expire soon.'],
  engines: [{ store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true } }, free],
  landing: [{ lag_messages: 0, lag_seconds: 0, ok: true }, nullable(free)],
  feeds: someOf('Feeds of the workspace that these processes have built.'),
  geo: [{ country_age_days: 3, asn_age_days: 3 }, free],
  unused_keys: someOf('Valid keys that were not used for a week.'),
  ending_keys: someOf(`${ENDING_WORDS}.`),
  dead_letters: [0, 'Messages of the workspace that could not be applied, counted up to 1000.'],
  stopped: someOf('Devices and bouncers that stopped fetching within a day.'),
  full_devices: someOf('Devices at 90% or more of the entries they accept in all feeds together.'),
  sources: someOf('Sources with a problem.'),
  failing_webhooks: someOf('Webhooks with five or more failures in a row.'),
  guard_rails_off: [[], Type.Array(Type.String())],
  frozen_feeds: someOf('Feeds served as of an earlier moment until they are thawed.'),
  waiting_approvals: someOf('How many changes wait for the approval of another person.'),
  processes: [
    [
      {
        pid: 4242,
        roles: ['signals', 'consumer', 'feeds', 'manage', 'sources'],
        started_at: '2026-11-20T10:00:00.000Z',
        checks: { store: { ok: true } },
      },
    ],
    Type.Array(free),
  ],
});

const GEO_KIND = {
  source: ['packaged', Type.Enum(['packaged', 'downloaded', 'operator'], { description: 'The origin of the data.' })],
  format: 'csv',
  date: ['2026-11-19T00:00:00.000Z', Type.String()],
  age_days: 3,
  keys: [249, 'Countries or ASNs with ranges.'],
  ranges_v4: 240_000,
  ranges_v6: 130_000,
  attribution: ['NRO delegation statistics (CC BY 4.0)', nullable(Type.String())],
} as const satisfies Fields;

/** Hides paths of the operator. */
function geoKindJson(data: Readonly<Record<string, unknown>>): object {
  const fields = Object.fromEntries(Object.keys(GEO_KIND).map((name) => [name, data[name]]));
  return { ...fields, source: data.source === 'packaged' || data.source === 'downloaded' ? data.source : 'operator' };
}

export const STATUS_OPERATIONS: readonly Operation[] = [
  operation('getStatus', 'GET /status', 'rules:read', {
    summary: 'Get the status of the service, the size of the feeds, and alerts',
    description: 'Lists the processes on the machine that responds.',
    answer: STATUS,
    async run({ service, ...context }) {
      const { store, workspaceId, now } = context;
      const status = serviceStatus(await workspaceParts(context, service, await service.processes()));
      const { attention, ...facts } = status;
      const snoozes = await store.snoozes(workspaceId, now());
      const keys = snoozes.length > 0 ? await keyNames(store, workspaceId) : new Map<string, string>();
      return { attention, items: itemsWith(alertsOf(facts), snoozes, keys), ...facts };
    },
    show: (status) => ({ body: statusBody(status) }),
  }),
  operation('getGeo', 'GET /geo', 'rules:read', {
    summary: 'Get the country and ASN data in use, and their age',
    answer: answerOf('GeoData', { version: 'a1b2c3', country: GEO_KIND, asn: GEO_KIND }),
    run: async ({ service }) => service.geo(),
    show: ({ version, country, asn }) => ({ body: { version, country: geoKindJson(country), asn: geoKindJson(asn) } }),
  }),
];
