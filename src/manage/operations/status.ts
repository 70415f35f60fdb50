/** The service as a workspace sees it: what runs, what needs attention, which geo data are in use. */

import { ENDING_WORDS } from '../../account/key.ts';
import { answerOf, type Fields, listOf, nullable, objectOf, Type } from '../../json/schema.ts';
import { alertsOf, type Status, serviceStatus } from '../alerts.ts';
import { type Operation, operation } from '../operation.ts';
import { keyNames } from '../rules/rule-json.ts';
import { itemsWith } from '../snoozes.ts';
import { workspaceParts } from '../workspace-status.ts';
import { SNOOZE } from './alerts.ts';

/** The status without what is of no workspace: where processes listen. */
function statusBody({ processes, ...status }: Status): object {
  return { ...status, processes: processes.map(({ url: _url, ...process }) => process) };
}

const free = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true });
const someOf = (description: string) => [[], Type.Array(free, { description })] as const;
const STATUS = answerOf('Status', {
  attention: [[], Type.Array(Type.String(), { description: 'A line for each thing that needs attention.' })],
  items: listOf(
    {
      key: ['guard_rails', 'What it is of: the same as long as it is of that.'],
      state: ['off', 'How that is.'],
      text: 'guard rails are off in default (docs/deployment.md)',
      urgent: true,
      snooze: [null, nullable(objectOf(SNOOZE), { description: 'Who has put it off, why and until when.' })],
    },
    { description: 'The same things, what is urgent first, with what was put off.' },
  ),
  urgent: [false, 'Whether anything of it is more than old geo data and keys that end soon.'],
  engines: [{ store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true } }, free],
  landing: [{ lag_messages: 0, lag_seconds: 0, ok: true }, nullable(free)],
  feeds: someOf('The feeds of the workspace that these processes have built.'),
  geo: [{ country_age_days: 3, asn_age_days: 3 }, free],
  unused_keys: someOf('Valid keys that were not seen for a week.'),
  ending_keys: someOf(`${ENDING_WORDS}.`),
  dead_letters: [0, 'Messages of the workspace that could not land, counted up to 1000.'],
  stopped: someOf('Devices and bouncers that have stopped pulling within a day.'),
  full_devices: someOf('Devices that have 90% or more of what they take for all their feeds together.'),
  sources: someOf('Sources that somebody has to look at.'),
  failing_webhooks: someOf('Webhooks that have failed five times in a row or more.'),
  guard_rails_off: [[], Type.Array(Type.String())],
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
  source: ['packaged', Type.Enum(['packaged', 'downloaded', 'operator'], { description: 'Where the data come from.' })],
  format: 'csv',
  date: ['2026-11-19T00:00:00.000Z', Type.String()],
  age_days: 3,
  keys: [249, 'Countries or ASNs that have ranges.'],
  ranges_v4: 240_000,
  ranges_v6: 130_000,
  attribution: ['NRO delegation statistics (CC BY 4.0)', nullable(Type.String())],
} as const satisfies Fields;

/** The data of a kind, without the paths of the operator's files. */
function geoKindJson(data: Readonly<Record<string, unknown>>): object {
  const shown = Object.fromEntries(Object.keys(GEO_KIND).map((name) => [name, data[name]]));
  return { ...shown, source: data.source === 'packaged' || data.source === 'downloaded' ? data.source : 'operator' };
}

export const STATUS_OPERATIONS: readonly Operation[] = [
  operation('getStatus', 'GET /status', 'rules:read', {
    summary: 'What runs, how full the feeds of the workspace are, and what needs attention',
    description: 'The processes are those on the machine that answers (docs/status.md).',
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
    summary: 'Which country and ASN data are in use, and how old they are',
    answer: answerOf('GeoData', { version: 'a1b2c3', country: GEO_KIND, asn: GEO_KIND }),
    run: async ({ service }) => service.geo(),
    show: ({ version, country, asn }) => ({ body: { version, country: geoKindJson(country), asn: geoKindJson(asn) } }),
  }),
];
