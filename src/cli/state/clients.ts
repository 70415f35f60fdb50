import { FORMATS } from '../../feed/formats/table.ts';
import type { deviceJson } from '../../manage/devices/device-json.ts';
import { refusalText } from '../../manage/devices/refusal-text.ts';
import type { bouncerJson } from '../../manage/operations/bouncers.ts';
import { countText } from '../../text/count.ts';
import { namesOf } from '../client/names.ts';
import { printable, table } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';

type BouncerRow = ReturnType<typeof bouncerJson> & { readonly feed_name: string | null };

export const CLIENT_ROWS: readonly AnyRow[] = [
  row<DeviceRow[]>({
    words: 'device ls',
    operation: 'listDevices',
    summary: 'list the devices that fetch feeds, latest first: key, address, responses, and how far behind their content is',
    options: { key: { help: 'only those with this key, by its id or name' } },
    json: (devices) => devices.toSorted((a, b) => Date.parse(b.last_pull!) - Date.parse(a.last_pull!)),
    show: (rows) =>
      [
        table(
          ['LAST PULL', 'EVERY', 'ADDRESS', 'KEY', '200', '304', '4XX', '5XX', 'VALIDATORS', 'BEHIND', 'STATE', 'USER AGENT'],
          rows,
          (d) => [
            d.last_pull,
            d.interval_seconds === null ? null : `${d.interval_seconds} s`,
            d.address,
            d.key_name ?? d.key_id,
            ...Object.values(d.answers),
            d.sends_validators ? 'yes' : d.answers['200'] === 0 ? null : 'no',
            behindText(d.documents),
            stateText(d),
            d.user_agent,
          ],
        ),
        ...rows.flatMap(refusalLines),
      ].join('\n'),
  }),
  row<ReturnType<typeof bouncerJson>[], BouncerRow[]>({
    words: 'bouncer ls',
    operation: 'listBouncers',
    summary: 'list the bouncers of the last 30 days, and what they cannot enforce',
    async json(bouncers, { client }) {
      const names = await namesOf(client);
      return bouncers.map((each) => ({ ...each, feed_name: names.get(each.feed_id ?? '') ?? null }));
    },
    show: (rows) =>
      [
        table(['BOUNCER', 'ADDRESS', 'KEY', 'FEED', 'LAST PULL', 'DECISIONS', 'NETWORKS', 'LEFT OUT'], rows, (b) => [
          b.user_agent,
          b.address,
          b.key_name ?? b.key_id,
          b.feed_name ?? b.feed_id,
          b.last_pull,
          b.decisions,
          b.networks,
          b.left_out_networks === 0 ? null : `${b.left_out_networks} (${countText(b.left_out_addresses)} addresses)`,
        ]),
        ...rows.flatMap(({ user_agent: name, address, refusal }) =>
          refusal === null ? [] : [printable(`${name} at ${address} is refused: ${refusalText(refusal)}`)],
        ),
        ...rows.flatMap(({ user_agent: name, address, cannot_enforce: certain, depends_on_mode: otherwise }) =>
          [certain, otherwise].flatMap((gap) => (gap === null ? [] : [`${name} at ${address} ${gap}`])),
        ),
      ].join('\n'),
  }),
];

type DeviceRow = ReturnType<typeof deviceJson>;

function stateText({ stopped_at: stopped, refusals: [refusal], last_status: status }: DeviceRow): string {
  if (stopped !== null) return `stopped ${stopped}`;
  if (refusal !== undefined) return `refused ${refusal.status}`;
  return status < 400 ? 'ok' : `answered ${status}`;
}

const refusalLines = ({ user_agent: agent, address, refusals }: DeviceRow): string[] =>
  refusals.map(({ feed_name: name, format, ...refusal }) => {
    const of = name === null ? "the workspace's feed" : `the feed ${name}`;
    return printable(`${agent} at ${address} is refused ${format === null || format in FORMATS ? of : format}: ${refusalText(refusal)}`);
  });

/** Of the document furthest behind. */
function behindText(documents: DeviceRow['documents']): string | null {
  const known = documents.flatMap(({ behind_seconds }) => behind_seconds ?? []);
  if (known.length === 0) return null;
  const most = Math.max(...known);
  return most === 0 ? 'no' : `${most} s`;
}
