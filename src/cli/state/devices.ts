/** `weir device`. */
import { deviceJson } from '../../manage/devices/device-json.ts';
import { findKeyNamed } from '../../manage/find.ts';
import { namesIn } from '../../manage/rules/rule-json.ts';
import type { Device, DevicePage } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { readsIn, table } from '../context.ts';
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
        const { keys } = await namesIn(store, id);
        return (await allDevices(store, id, which)).map((device) => deviceJson(device, keys));
      },
      show: (rows) =>
        table(
          ['LAST PULL', 'EVERY', 'ADDRESS', 'KEY', '200', '304', '4XX', '5XX', 'VALIDATORS', 'BEHIND', 'STATE', 'USER AGENT'],
          rows,
          (d) => [
            d.last_pull,
            d.interval_seconds === null ? null : `${d.interval_seconds} s`,
            d.address,
            d.key_name ?? d.key_id,
            ...Object.values(d.answers),
            d.sends_validators ? 'yes' : 'no',
            behindText(d.documents),
            d.stopped_at === null ? (d.last_status < 400 ? 'ok' : `answered ${d.last_status}`) : `stopped ${d.stopped_at}`,
            d.user_agent,
          ],
        ),
    },
  );
}

/** By how much the document that is furthest behind is. */
function behindText(documents: ReturnType<typeof deviceJson>['documents']): string | null {
  const known = documents.flatMap(({ behind_seconds }) => behind_seconds ?? []);
  if (known.length === 0) return null;
  const most = Math.max(...known);
  return most === 0 ? 'no' : `${most} s`;
}
