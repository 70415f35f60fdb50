/** The archive of a workspace: a file of changes per day, and a file of bases where there are any (SPEC D61.1). */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DAY, dayOf } from '../clock.ts';
import { hasCode } from '../errors.ts';
import { type BeforeWrite, type Position, readSegments, type SegmentHead, TEMPORARY } from './segments.ts';

export type FileKind = SegmentHead['kind'];

interface ArchiveFile {
  readonly path: string;
  /** Since 1970, UTC. */
  readonly day: number;
  readonly kind: FileKind | undefined;
}

const NAME = /^(\d{4}-\d\d-\d\d)\.(base|changes)\.ndjson\.gz(\.damaged-\d+)?$/;

export const folderOf = (dir: string, workspaceId: string): string => join(dir, workspaceId);

export function filePath(folder: string, day: number, kind: FileKind): string {
  return join(folder, `${new Date(day * DAY).toISOString().slice(0, 10)}.${kind}.ndjson.gz`);
}

/** Oldest first. `kind` undefined: damaged files, which were set aside. */
export function filesIn(folder: string): ArchiveFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const [, day, kind, damaged] = NAME.exec(name) ?? [];
      if (day === undefined) return [];
      return [{ path: join(folder, name), day: dayOf(Date.parse(day)), kind: damaged === undefined ? (kind as FileKind) : undefined }];
    });
}

export const filesOf = (folder: string, kind: FileKind): ArchiveFile[] => filesIn(folder).filter((file) => file.kind === kind);

/** The end of an archive. */
export interface Ending extends Pick<SegmentHead, 'settings' | 'audit'> {
  readonly until: Position;
}

export interface Written {
  /** undefined: nothing is written. */
  readonly end: Ending | undefined;
  /** Month of the newest base, YYYY-MM. */
  readonly baseMonth: string | undefined;
  /** Of the newest files: another process may have replaced them. */
  readonly state: string;
}

export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);

const newestFiles = (folder: string) =>
  (['base', 'changes'] as const).flatMap((kind) => {
    const file = filesOf(folder, kind).at(-1);
    return file === undefined ? [] : [file];
  });

export const folderState = (folder: string): string =>
  newestFiles(folder)
    .map(({ path }) => [basename(path), statSync(path).size, statSync(path).ino].join(' '))
    .join();

/** Reads the newest files. A damaged one is set aside: the store may still have its changes. */
export async function readWritten(folder: string, report: (message: string) => void, now: number): Promise<Written> {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  for (const name of readdirSync(folder)) if (name.endsWith(TEMPORARY)) rmSync(join(folder, name), { force: true });
  const state = folderState(folder);
  const ends: SegmentHead[] = [];
  for (const { path, kind } of newestFiles(folder)) {
    try {
      ends.push(...(await lastHead(path)));
    } catch (error) {
      if (!hasCode(error, 'REFUSED')) throw error;
      const aside = `${path}.damaged-${now}`;
      renameSync(path, aside);
      report(`${(error as Error).message}; it is now ${basename(aside)}, and its ${kind} is written again if the store still has it`);
      return readWritten(folder, report, now);
    }
  }
  const last = ends.toSorted((a, b) => a.until.at - b.until.at).at(-1);
  const base = ends.find(({ kind }) => kind === 'base');
  return {
    end: last && { until: last.until, settings: last.settings, audit: last.audit },
    baseMonth: base && monthOf(base.until.at),
    state,
  };
}

async function lastHead(path: string): Promise<SegmentHead[]> {
  let last: SegmentHead | undefined;
  await readSegments(path, {
    head(head) {
      last = head;
      return true;
    },
  });
  return last === undefined ? [] : [last];
}

export interface Retention {
  readonly days: number;
  /** Of a workspace; 0 = no limit. */
  readonly bytes: number;
}

/** Deletes files that no look-up needs: those before the newest base that is older than the retention, and above the limit the oldest. */
export function deleteOld(folder: string, { days, bytes }: Retention, now: number, beforeWrite: BeforeWrite): void {
  const files = filesIn(folder).map((file) => ({ ...file, bytes: statSync(file.path).size }));
  const bases = files.filter(({ kind }) => kind === 'base').map(({ day }) => day);
  let from = bases.findLast((day) => day < dayOf(now) - days) ?? 0;
  const sizeFrom = (day: number) => files.filter((file) => file.day >= day).reduce((sum, file) => sum + file.bytes, 0);
  while (bytes > 0 && sizeFrom(from) > bytes) {
    const next = bases.find((day) => day > from);
    if (next === undefined) break;
    from = next;
  }
  for (const { path, day } of files) {
    if (day >= from) continue;
    beforeWrite();
    rmSync(path, { force: true });
  }
}

/** Bytes of changes since the newest base. */
export function sinceBase(folder: string): number {
  const base = filesOf(folder, 'base').at(-1)?.day ?? 0;
  return filesOf(folder, 'changes')
    .filter(({ day }) => day > base)
    .reduce((sum, { path }) => sum + statSync(path).size, 0);
}
