import { FORMATS } from '../../feed/formats/table.ts';
import type { deviceJson } from '../../manage/devices/device-json.ts';
import { refusalText } from '../../manage/devices/refusal-text.ts';
import type { ExpectedDevice, enrolmentJson } from '../../manage/operations/access/enrolments.ts';
import type { bouncerJson } from '../../manage/operations/bouncers.ts';
import { countText } from '../../text/count.ts';
import { namesOf } from '../client/names.ts';
import { printable, table } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';

type BouncerRow = ReturnType<typeof bouncerJson> & { readonly feed_name: string | null };
/** A key that nobody has used. */
type ExpectedRow = ExpectedDevice & { readonly user_agent: null; readonly address: null; readonly feed_name: string | null };
type Enrolment = ReturnType<typeof enrolmentJson>;
type Enrolled = Enrolment & { readonly command: string };
const isSeen = (each: BouncerRow | ExpectedRow): each is BouncerRow => each.user_agent !== null;

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
  row<ReturnType<typeof bouncerJson>[], (BouncerRow | ExpectedRow)[]>({
    words: 'bouncer ls',
    operation: 'listBouncers',
    summary: 'list the bouncers of the last 30 days, what they cannot enforce, and those expected: keys for feeds that nobody has used',
    async json(bouncers, { client }) {
      const names = await namesOf(client);
      const expected = await client.items<ExpectedDevice>('listExpectedDevices');
      return [...bouncers, ...expected.map((each) => ({ user_agent: null, address: null, ...each }))].map((each) => ({
        ...each,
        feed_name: names.get(each.feed_id ?? '') ?? null,
      }));
    },
    show: (all) => {
      const rows = all.filter(isSeen);
      return [
        table(['BOUNCER', 'ADDRESS', 'KEY', 'FEED', 'LAST PULL', 'DECISIONS', 'NETWORKS', 'LEFT OUT'], all, (b) => [
          b.user_agent ?? 'expected',
          b.address,
          b.key_name ?? b.key_id,
          b.feed_name ?? b.feed_id,
          ...(isSeen(b) ? [b.last_pull, b.decisions, b.networks] : ['never seen', null, null]),
          !isSeen(b) || b.left_out_networks === 0 ? null : `${b.left_out_networks} (${countText(b.left_out_addresses)} addresses)`,
        ]),
        ...rows.flatMap(({ user_agent: name, address, refusal }) =>
          refusal === null ? [] : [printable(`${name} at ${address} is refused: ${refusalText(refusal)}`)],
        ),
        ...rows.flatMap(({ user_agent: name, address, enforced, differed_at: differed }) =>
          enforced === null ? [] : [printable(`${name} at ${address} ${enforcedText(enforced, differed)}`)],
        ),
        ...rows.flatMap(({ user_agent: name, address, cannot_enforce: certain, depends_on_mode: otherwise }) =>
          [certain, otherwise].flatMap((gap) => (gap === null ? [] : [`${name} at ${address} ${gap}`])),
        ),
      ].join('\n');
    },
  }),
  row<Enrolled>({
    words: 'device enroll <name>',
    operation: 'createEnrolment',
    summary: 'create a code with which a Linux host gets weir-follow and a key for a feed; prints the line to run on the host',
    options: {
      feed: { help: 'the list or feed that it enforces, by name or id' },
      from: { help: 'an address or network of the host; code and key are refused from others', unset: 'any' },
      driver: { help: 'its packet filter' },
      expires_in: { help: 'lifetime of the key, such as 90d; default: no end' },
    },
    show: ({ name, command, expires_at }) =>
      `On ${printable(name)}, as root, until ${expires_at}, once:\n\n  ${command}\n\nIt prints what it would do. The same with --yes does it.`,
  }),
  row<Enrolment[]>({
    words: 'device codes',
    operation: 'listEnrolments',
    summary: 'list the open codes of device enroll',
    columns: { ID: 'id', NAME: 'name', FEED: 'feed_id', FROM: ({ from }) => from.join(' ') || null, EXPIRES: 'expires_at' },
  }),
  row<{ readonly id: string }>({
    words: 'device revoke-code <enrolment>',
    operation: 'revokeEnrolment',
    summary: 'revoke an open code of device enroll, by its id',
    show: ({ id }) => `code ${id} is revoked`,
  }),
];

const VERDICTS = { same: 'those of its feed', different: 'NOT those of its feed', unknown: 'of a version that weir has not sent lately' };

const enforcedText = ({ at, count, verdict }: NonNullable<BouncerRow['enforced']>, differed: BouncerRow['differed_at']) =>
  `has ${countText(count)} networks in its firewall, ${VERDICTS[verdict]} (read back ${at}${differed === null ? '' : `; different ${differed}`})`;

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
