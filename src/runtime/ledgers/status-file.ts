/** In DATA_DIR, for `weir status` (SPEC D10.15). */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessStatus } from '../../manage/status.ts';
import type { Log } from '../../ports/log.ts';
import { oneByOne } from '../../serial.ts';

/** ms; also how old the file of a running process may be. */
const EVERY = 10_000;
const RUNNING = 3 * EVERY;

/** Debounce of `soon`, ms. */
const GATHER = 200;

const NAME = /^status-\d+\.json$/;

/** Now and every 10 s; if nothing changed, only the file time. Logs a failure once. */
export function startStatusFile(dataDir: string, collect: () => Promise<ProcessStatus>, log: Log) {
  const file = join(dataDir, `status-${process.pid}.json`);
  let early: NodeJS.Timeout | undefined;
  let written = '';
  let failed = false;
  let over = false;
  const inTurn = oneByOne();

  async function write(): Promise<void> {
    const text = JSON.stringify(await collect());
    try {
      if (text === written) return utimesSync(file, new Date(), new Date());
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
      written = text;
      failed = false;
    } catch (error) {
      if (!failed) log('info', `weir status will not include this process: ${(error as Error).message}`);
      failed = true;
      written = '';
    }
  }
  const next = () => {
    early = undefined;
    inTurn(write).catch((error: Error) => log('error', `the status could not be written: ${error.message}`));
  };
  dropStopped(dataDir);
  next();
  const timer = setInterval(next, EVERY).unref();
  return {
    soon(): void {
      // Late changes during shutdown must not create the file again.
      if (!over) early ??= setTimeout(next, GATHER).unref();
    },
    async stop(): Promise<void> {
      over = true;
      clearInterval(timer);
      clearTimeout(early);
      await inTurn(async () => {});
      rmSync(file, { force: true });
    },
  };
}

/** Recent files on this DATA_DIR; `now` in ms. */
export function readStatusFiles(dataDir: string, now: number): ProcessStatus[] {
  return statusFiles(dataDir)
    .filter(({ writtenAt }) => now - writtenAt < RUNNING)
    .flatMap(({ path }) => {
      try {
        return [JSON.parse(readFileSync(path, 'utf8')) as ProcessStatus];
      } catch {
        // Deleted meanwhile.
        return [];
      }
    });
}

/** Of other processes' status, ms. */
const READ_EVERY = 2_000;

export function processesOn(dataDir: string, own: () => Promise<ProcessStatus>): () => Promise<readonly ProcessStatus[]> {
  let others: readonly ProcessStatus[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - readAt > READ_EVERY) {
      readAt = performance.now();
      others = readStatusFiles(dataDir, Date.now()).filter(({ pid }) => pid !== process.pid);
    }
    return [await own(), ...others];
  };
}

/** Deletes files of killed processes. */
function dropStopped(dataDir: string): void {
  const now = Date.now();
  for (const { path, writtenAt } of statusFiles(dataDir)) if (now - writtenAt >= RUNNING) rmSync(path, { force: true });
}

function statusFiles(dataDir: string): { path: string; writtenAt: number }[] {
  try {
    return readdirSync(dataDir)
      .filter((name) => NAME.test(name))
      .sort()
      .flatMap((name) => {
        const path = join(dataDir, name);
        const found = statSync(path, { throwIfNoEntry: false });
        return found === undefined ? [] : [{ path, writtenAt: found.mtimeMs }];
      });
  } catch {
    return [];
  }
}
