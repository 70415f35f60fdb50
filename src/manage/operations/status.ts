/** The service as a workspace sees it: what runs, what needs attention, which geo data are in use. */

import { areOff } from '../../account/guard-rails.ts';
import { isEnding } from '../../account/key.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, type Fields, nullable, Type } from '../../json-schema.ts';
import type { ManageContext } from '../context.ts';
import { type Operation, operation } from '../operation.ts';
import { troubleOf } from '../sources/trouble.ts';
import { endingKeyJson, isUnused, type ProcessStatus, type Status, serviceStatus, unusedKeyJson } from '../status.ts';

/** Keys that are looked at for unused ones. */
const MOST_KEYS = 1000;
/** Sources that are looked at for trouble. */
const MOST_SOURCES = 1000;

/** The status of the service, with the feeds, keys and guard rails of one workspace. */
async function readStatus({ store, service, workspaceId, guardRails, now }: ManageContext): Promise<Status> {
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
  const processes = (await service.processes()).map(withoutReasons);
  const { items: keys } = await store.keyPage(workspaceId, { after: null, limit: MOST_KEYS });
  const { items: sources } = await store.sourcePage(workspaceId, { after: null, limit: MOST_SOURCES });
  const { country, asn } = service.geo();
  return serviceStatus({
    store: { kind: service.engines.store, ...checkOf(processes, 'store') },
    stream: { kind: service.engines.stream, ...checkOf(processes, 'stream') },
    processes: processes.map((process) => ({ ...process, feeds: process.feeds.filter((feed) => feed.workspaceId === workspaceId) })),
    lag: null,
    geo: { country: country.age_days, asn: asn.age_days },
    // They are the whole service's.
    deadLetters: null,
    unusedKeys: keys.filter((key) => isUnused(key, now())).map((key) => unusedKeyJson(key, workspace.name)),
    endingKeys: keys.filter((key) => isEnding(key, now())).map((key) => endingKeyJson(key, workspace.name)),
    sources: sources.flatMap((record) => troubleOf(record, workspace.name, now()) ?? []),
    unguarded: areOff(guardRails) && areOff(workspace) ? [workspace.name] : [],
    workspaces: new Map([[workspaceId, workspace.name]]),
  });
}

/** What is told of a part that is not ready: its own reason may hold an address or a path of the operator (SPEC D15.15). */
const NOT_READY = 'why is in the log and at /readyz';

const withoutReasons = (process: ProcessStatus): ProcessStatus => ({
  ...process,
  checks: Object.fromEntries(
    Object.entries(process.checks).map(([name, check]) => [name, check.reason === undefined ? check : { ...check, reason: NOT_READY }]),
  ),
});

/** What the first process that uses an engine says of it. */
function checkOf(processes: readonly ProcessStatus[], name: string): { readonly ok: boolean; readonly reason?: string } {
  const check = processes.map(({ checks }) => checks[name]).find((each) => each !== undefined);
  return { ok: check?.ok ?? true, ...(check?.reason !== undefined && { reason: check.reason }) };
}

/** The status without what is of no workspace: dead letters, and where processes listen. */
function statusBody({ dead_letters: _, processes, ...status }: Status): object {
  return { ...status, processes: processes.map(({ url: _url, ...process }) => process) };
}

const free = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true });
const someOf = (description: string) => [[], Type.Array(free, { description })] as const;
const STATUS = answerOf('Status', {
  attention: [[], Type.Array(Type.String(), { description: 'A line for each thing that needs attention.' })],
  urgent: [false, 'Whether anything of it is more than old geo data and keys that end soon.'],
  engines: [{ store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true } }, free],
  landing: [{ lag_messages: 0, lag_seconds: 0, ok: true }, nullable(free)],
  feeds: someOf('The feeds of the workspace that these processes have built.'),
  geo: [{ country_age_days: 3, asn_age_days: 3 }, free],
  unused_keys: someOf('Valid keys that were not seen for a week.'),
  ending_keys: someOf('Keys that end within 14 days and were used within 30.'),
  sources: someOf('Sources that somebody has to look at.'),
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
  source: ['packaged', Type.Enum(['packaged', 'operator'], { description: 'Where the data come from.' })],
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
  return { ...shown, source: data.source === 'packaged' ? data.source : 'operator' };
}

export const STATUS_OPERATIONS: readonly Operation[] = [
  operation('getStatus', 'GET /status', 'rules:read', {
    summary: 'What runs, how full the feeds of the workspace are, and what needs attention',
    description: 'The processes are those on the machine that answers (docs/status.md).',
    answer: STATUS,
    run: readStatus,
    show: (status) => ({ body: statusBody(status) }),
  }),
  operation('getGeo', 'GET /geo', 'rules:read', {
    summary: 'Which country and ASN data are in use, and how old they are',
    answer: answerOf('GeoData', { version: 'a1b2c3', country: GEO_KIND, asn: GEO_KIND }),
    run: async ({ service }) => service.geo(),
    show: ({ version, country, asn }) => ({ body: { version, country: geoKindJson(country), asn: geoKindJson(asn) } }),
  }),
];
