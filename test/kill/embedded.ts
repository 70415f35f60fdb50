/** One weir with its data on a small disk of its own, and links before it and behind it. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { smallGeo } from '../support/geo.ts';
import { passTime } from '../support/time-out.ts';
import { KEY } from '../support/weir.ts';
import { openLink } from './links.ts';
import { lastingPort } from './ports.ts';
import { clockIn, keepWeir, type World } from './world.ts';

const PRELOAD = new URL('../support/settable-clock.ts', import.meta.url).href;
const DISK = '96m';

/** What every weir of a run is started with. */
export const settingsOf = (folder: string): Record<string, string> => ({
  ...smallGeo(folder),
  ...{ BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '1', SOURCE_NETWORKS: '127.0.0.1' },
  ...{ RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', RATE_LIMIT_MANAGE: '0' },
  ...{ CLOCK_FILE: join(folder, 'clock'), NODE_OPTIONS: `--import ${PRELOAD}` },
});

/** A disk in memory, where this user may mount one. */
function mountDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=0700`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Takes what is free of a disk, for so long. */
async function fillDisk(folder: string, ms: number): Promise<void> {
  const file = join(folder, 'filler');
  const block = Buffer.alloc(65_536);
  const handle = openSync(file, 'w');
  try {
    for (const { bavail, bsize } = statfsSync(folder), left = bavail * bsize; ; ) {
      if (left === 0) break;
      writeSync(handle, block);
    }
  } catch {
    // It is full.
  } finally {
    closeSync(handle);
  }
  await sleep(ms);
  rmSync(file, { force: true });
}

/** Starts it; `origin` is the port of the server of lists. */
export async function startEmbedded(origin: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-kill-'));
  const [disk, port] = [join(folder, 'data'), await lastingPort()];
  mkdirSync(disk, { mode: 0o700 });
  const hasDisk = mountDisk(disk);
  const clock = clockIn(join(folder, 'clock'));
  const ended: string[] = [];
  const settings = { ...settingsOf(folder), DATA_DIR: disk, PORT: String(port) };
  const weir = keepWeir('weir', settings, ended);
  const [clients, lists] = [await openLink(port), await openLink(origin)];
  const links = ['clients', 'origin'];
  return {
    engine: 'embedded',
    key: KEY,
    patience: { answers: 120_000, feeds: 45_000 },
    ports: { signals: [clients.port], manage: clients.port, feeds: [clients.port] },
    targets: {
      ...{ kill: ['weir'], 'kill twice': ['weir'], term: ['weir'], pause: ['weir'], clock: ['weir'] },
      ...{ cut: links, hang: links, slow: links, refuse: links, lose: links },
      ...(hasDisk && { disk: ['weir'], 'kill on a full disk': ['weir'] }),
    },
    parts: new Map([['weir', weir]]),
    links: new Map([
      ['clients', clients],
      ['origin', lists],
    ]),
    own: {
      disk: ({ ms }) => fillDisk(disk, ms),
      'kill on a full disk': async ({ ms }) => {
        await Promise.all([fillDisk(disk, ms), sleep(ms / 2).then(() => weir.kill(0))]);
      },
    },
    clock,
    origin: lists.port,
    passTime: () => passTime(settings),
    starts: weir.starts,
    ended,
    async stop() {
      await weir.stop();
      await Promise.all([clients.close(), lists.close()]);
      if (hasDisk) execFileSync('umount', [disk]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
