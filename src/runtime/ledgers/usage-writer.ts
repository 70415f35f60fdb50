/** Once a minute, new devices immediately (SPEC D16.9, D16.13). */
import type { SeenDevice } from '../../account/device.ts';
import { DAY, dayOf, within } from '../../clock.ts';
import type { FeedSizes } from '../../feed/monitor/feed-sizes.ts';
import type { Device, DeviceNotes } from '../../ports/devices.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { everyMinute, soon } from '../../schedule/debounce.ts';
import { oneByOne } from '../../serial.ts';

/** Timeout of the last write, ms. */
const LAST = 3_000;
/** Devices per transaction. */
const SLICE = 500;
/** Per kind and minute; one more sums up the rest. */
const LINES = 20;

export interface PastParts {
  readonly store: Pick<
    Store,
    'noteDevices' | 'markStopped' | 'keysByHash' | 'deviceCounts' | 'endingKeys' | 'noteFeedSizes' | 'key' | 'workspace'
  >;
  readonly devices: DeviceNotes;
  readonly sizes: Pick<FeedSizes, 'take'>;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
}

export interface Past {
  /** At the last check: devices that poll regularly, and those stopped within a day. */
  counts(): { readonly pulling: number; readonly stopped: number } | undefined;
  /** In use and soon to expire, at the last check. */
  endingKeys(): number | undefined;
  write(): Promise<void>;
  stop(): Promise<void>;
}

/** Failed writes are lost, and logged once per outage. */
export function startUsageWriter({ store, devices, sizes, log, now }: PastParts): Past {
  const startedAt = now();
  let counts: ReturnType<Past['counts']>;
  let ending: number | undefined;
  let failed = false;
  const inTurn = oneByOne();

  async function writeNow(isLast: boolean): Promise<void> {
    try {
      const at = now();
      await store.noteFeedSizes(sizes.take(dayOf(at)));
      const back: Device[] = [];
      for (const seen of inChunks(await withRefused(), SLICE)) back.push(...(await store.noteDevices(seen)));
      for (const line of backLines(await named(back), at)) log('info', line);
      // Another process reports devices that poll it during this shutdown.
      if (isLast) return;
      for (const line of stoppedLines(await named(await store.markStopped({ now: at, running: at - startedAt })))) log('warn', line);
      counts = await store.deviceCounts(at - DAY);
      ending = await store.endingKeys(at);
      failed = false;
    } catch (error) {
      if (!failed) log('warn', `device activity could not be written: ${(error as Error).message}`);
      failed = true;
    }
  }

  /** For the log; an id if deleted or unnamed. */
  const named = (devices: readonly Device[]): Promise<Device[]> =>
    Promise.all(
      devices.map(async (device, i) => {
        if (i >= LINES) return device;
        const [key, workspace] = await Promise.all([store.key(device.workspaceId, device.keyId), store.workspace(device.workspaceId)]);
        return { ...device, keyId: quoted(key?.name) ?? device.keyId, workspaceId: quoted(workspace?.name) ?? device.workspaceId };
      }),
    );

  async function writeNew(): Promise<void> {
    const seen = devices.takeNew();
    if (seen.length === 0) return;
    try {
      for (const line of backLines(await named(await store.noteDevices(seen)), now())) log('info', line);
    } catch {
      // Lost like others; the next regular write logs it.
    }
  }

  /** Adds devices known to the store. */
  async function withRefused(): Promise<Iterable<SeenDevice>> {
    const seen = devices.take();
    if (seen.refused.length === 0) return seen.devices;
    const keys = await store.keysByHash(seen.refused.map(({ hash }) => hash));
    const refused = [...keys].map(([place, key]) => ({ ...seen.refused[place]!.seen, ...key }));
    return joined(seen.devices, refused);
  }

  const early = soon(() => inTurn(writeNew));
  devices.onNew(early.ask);
  const write = (isLast = false) => inTurn(() => writeNow(isLast));
  store.deviceCounts(startedAt - DAY).then(
    (found) => {
      counts ??= found;
    },
    () => {},
  );
  store.endingKeys(startedAt).then(
    (found) => {
      ending ??= found;
    },
    () => {},
  );
  let stopping = false;
  const stop = everyMinute(() => write(stopping));
  return {
    counts: () => counts,
    endingKeys: () => ending,
    write: () => write(),
    stop() {
      stopping = true;
      early.stop();
      return within(stop(), LAST, 'the store').catch(() => {});
    },
  };
}

function* joined<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

export const stoppedLines = (stopped: readonly Device[]): string[] =>
  limited(
    stopped.map(
      (device) => `device stopped pulling: ${nameOf(device)}, last at ${iso(device.lastPull)}, usually every ${spell(device.interval!)}`,
    ),
    (others) => `${others} other devices stopped pulling`,
  );

/** `back`: previous states; `now` in ms. */
export const backLines = (back: readonly Device[], now: number): string[] =>
  limited(
    back.map((device) => `device pulls again: ${nameOf(device)}, after ${spell(now - device.lastPull)}`),
    (others) => `${others} other devices pull again`,
  );

const limited = (lines: string[], rest: (others: number) => string): string[] =>
  lines.length <= LINES ? lines : [...lines.slice(0, LINES), rest(lines.length - LINES)];

const nameOf = ({ userAgent, address, keyId, workspaceId }: Device) =>
  `${JSON.stringify(userAgent)} at ${address}, key ${keyId}, workspace ${workspaceId}`;
const quoted = (name: string | null | undefined) => name && JSON.stringify(name);
const iso = (ms: number) => new Date(ms).toISOString();

/** In the largest unit with at least two. */
function spell(ms: number): string {
  const [minutes, hours, days] = [60_000, 3_600_000, DAY].map((unit) => Math.round(ms / unit)) as [number, number, number];
  if (days >= 2) return `${days} days`;
  if (hours >= 2) return `${hours} hours`;
  return minutes >= 2 ? `${minutes} minutes` : `${Math.round(ms / 1000)} s`;
}
