import { isoTime } from '../../clock.ts';
import { gapOf } from '../../decisions/enforcement-gap.ts';
import { type Fields, nullable, Type } from '../../json/schema.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { type Operation, operation } from '../operation.ts';
import { PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';
import { keyNames, type Names } from '../rules/rule-json.ts';

export function bouncerJson(bouncer: Bouncer, keys: Names['keys']) {
  const gap = gapOf(bouncer);
  return {
    user_agent: bouncer.userAgent,
    address: bouncer.address,
    key_id: bouncer.keyId,
    key_name: keys.get(bouncer.keyId) ?? null,
    feed_id: bouncer.feedId,
    first_seen: isoTime(bouncer.firstSeen),
    last_pull: isoTime(bouncer.lastPull),
    decisions: bouncer.decisions,
    networks: bouncer.networks,
    left_out_networks: bouncer.leftOutNetworks,
    left_out_addresses: bouncer.leftOutAddresses,
    last_stream: isoTime(bouncer.lastStream),
    refusal: bouncer.refusal && { ...bouncer.refusal, since: isoTime(bouncer.refusal.since) },
    cannot_enforce: gap?.isCertain ? gap.text : null,
    depends_on_mode: gap === undefined || gap.isCertain ? null : gap.text,
    enforced: bouncer.enforced && { ...bouncer.enforced, at: isoTime(bouncer.enforced.at) },
    differed_at: isoTime(bouncer.differedAt),
    usage_metrics: bouncer.metrics === null ? null : (JSON.parse(bouncer.metrics) as object),
    usage_metrics_at: isoTime(bouncer.metricsAt),
  };
}

const optional = nullable(Type.String());
const BOUNCER = {
  user_agent: 'crowdsec-firewall-bouncer/v0.0.34',
  address: '198.51.100.8',
  key_id: ['0195a3c0-0000-7000-8000-000000000002', Type.String()],
  key_name: ['edge firewall', nullable(Type.String({ description: 'null: a deleted key.' }))],
  feed_id: [null, optional],
  first_seen: '2026-11-20T10:00:00.000Z',
  last_pull: ['2026-11-22T09:59:31.000Z', optional],
  decisions: 1200,
  networks: 1200,
  left_out_networks: 0,
  left_out_addresses: 0,
  last_stream: [
    '2026-11-22T09:59:31.000Z',
    nullable(Type.String(), { description: 'Its last fetch of the stream; null: it looks up single addresses.' }),
  ],
  refusal: [
    null,
    nullable(Type.Object({ status: Type.Integer(), since: optional, count: Type.Integer() }), {
      description: 'Set while its fetches are refused (4xx): status, start, and number in a row; null: the last one succeeded.',
    }),
  ],
  cannot_enforce: [null, optional],
  depends_on_mode: [null, nullable(Type.String(), { description: 'What it can enforce in one of its modes only.' })],
  enforced: [
    null,
    nullable(Type.Object({ at: optional, count: Type.Integer(), verdict: Type.Enum(['same', 'different', 'unknown']) }), {
      description:
        'The networks that it has read back from its firewall: when, how many, and whether they are those of the version that it names; null: not reported.',
    }),
  ],
  differed_at: [null, nullable(Type.String(), { description: 'When it last reported other networks than its feed; null: never.' })],
  usage_metrics: [null, Type.Unknown({ description: 'Its last usage report, in the form of the protocol; null: none.' })],
  usage_metrics_at: [null, optional],
} as const satisfies Fields;

export const BOUNCER_OPERATIONS: readonly Operation[] = [
  operation('listBouncers', 'GET /bouncers', 'rules:read', {
    summary: 'List the bouncers of the last 30 days, and what they cannot enforce',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Bouncers', 'bouncers', BOUNCER),
    async run({ store, workspaceId }, { query }) {
      const page = await store.bouncerPage(workspaceId, pageRequest(query, BY_BOUNCER));
      return { page, keys: await keyNames(store, workspaceId) };
    },
    show: ({ page, keys }) => ({ body: pageBody('bouncers', page, (each) => bouncerJson(each, keys)) }),
  }),
];

/** Key, address, name. */
const BY_BOUNCER = /^[\w-]+ [\w.:%]+ [\t -\uffff]*$/;
