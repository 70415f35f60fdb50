/** `weir device`. */
import { FORMATS } from '../../feed/formats/table.ts';
import { deviceJson, deviceNames } from '../../manage/devices/device-json.ts';
import { refusalText } from '../../manage/devices/refusal-text.ts';
import { findKeyNamed } from '../../manage/find.ts';
import type { Device, DevicePage } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { printable, readsIn, table } from '../context.ts';
import { inWorkspace } from '../usage.ts';

/** Devices that one read asks for. */
const PAGE = 1000;

/** The devices of a workspace, those first that have pulled last. */
export async function allDevices(store: StoreReads, workspace: string, which: Omit<DevicePage, 'limit' | 'after'> = {}): Promise<Device[]> {
  const devices: Device[] = [];
  for (;;) {
    const after = devices.at(-1)?.id;
    const page = await store.devices(workspace, { ...which, limit: PAGE, ...(after !== undefined && { after }) });
    devices.push(...page);
    if (page.length < PAGE) return devices.sort((a, b) => b.lastPull - a.lastPull);
  }
}

export function deviceCommands(add: AddCommand): void {
  add(
    'device ls',
    'list what pulls feeds, those first that pulled last: key, address, answers, and how far behind their content is',
    (c) => inWorkspace(c).option('--key <key>', 'only those with this key, by its id or name'),
    {
      async run(context, _args, { workspace, key }) {
        const { store, workspace: id } = await readsIn(context, workspace);
        const which = key === undefined ? {} : { keyId: (await findKeyNamed(store, id, key)).id };
        const devices = await allDevices(store, id, which);
        const names = await deviceNames(store, id, devices);
        return devices.map((device) => deviceJson(device, names));
      },
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
    },
  );
}

type DeviceRow = ReturnType<typeof deviceJson>;

function stateText({ stopped_at: stopped, refusals: [refusal], last_status: status }: DeviceRow): string {
  if (stopped !== null) return `stopped ${stopped}`;
  if (refusal !== undefined) return `refused ${refusal.status}`;
  return status < 400 ? 'ok' : `answered ${status}`;
}

/** What a device is refused, a line each. */
const refusalLines = ({ user_agent: agent, address, refusals }: DeviceRow): string[] =>
  refusals.map(({ feed_name: name, format, ...refusal }) => {
    const of = name === null ? "the workspace's feed" : `the feed ${name}`;
    return printable(`${agent} at ${address} is refused ${format === null || format in FORMATS ? of : format}: ${refusalText(refusal)}`);
  });

/** By how much the document that is furthest behind is. */
function behindText(documents: DeviceRow['documents']): string | null {
  const known = documents.flatMap(({ behind_seconds }) => behind_seconds ?? []);
  if (known.length === 0) return null;
  const most = Math.max(...known);
  return most === 0 ? 'no' : `${most} s`;
}
