/** Writes the archive of a workspace (SPEC D61.1). */
import { statSync } from 'node:fs';
import { DAY, dayOf, isoTime } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import {
  deleteOld,
  type FileKind,
  filePath,
  folderOf,
  folderState,
  monthOf,
  type Retention,
  readWritten,
  sinceBase,
  type Written,
} from './folder.ts';
import { base, changes, MissingChanges, readNow } from './next-segment.ts';
import { appendSegment, type BeforeWrite, type Segment } from './segments.ts';
import type { ServiceSettings } from './settings.ts';

export interface ArchiveWriting {
  readonly store: StoreReads;
  readonly dir: string;
  readonly retention: Retention;
  readonly report: (message: string) => void;
  readonly beforeWrite?: BeforeWrite;
}

/** Writes changes every hour, without changes every day, ms. */
const HOUR = 3_600_000;
/** Share of the limit after which the changes need a new base: the oldest month can then be deleted. */
const PARTS = 4;
/** Every segment copies the file: above this, bytes, changed settings wait for the hour. */
const LARGE = 33_554_432;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Remembers the ends of archives; `changed`: settings of the workspace changed. */
export function archiveWriter({ store, dir, retention, report, beforeWrite = () => {} }: ArchiveWriting) {
  const known = new Map<string, Written>();

  /** `now`: the store's clock, ms. */
  return async function write(workspaceId: string, now: number, service: ServiceSettings, changed: boolean): Promise<void> {
    const remembered = known.get(workspaceId);
    const folder = folderOf(dir, workspaceId);
    const isOpen = remembered?.end !== undefined && now - remembered.end.until.at < HOUR;
    if (isOpen && (!changed || sizeOf(filePath(folder, dayOf(now), 'changes')) > LARGE)) return;
    known.delete(workspaceId);
    const written = remembered?.state === folderState(folder) ? remembered : await readWritten(folder, report, now);
    const { end } = written;
    const reading = await readNow(store, workspaceId, service, end);
    if (reading === undefined) return deleteOld(folder, retention, now, beforeWrite);
    const { head } = reading;
    const { at, seq } = head.until;
    let { state } = written;
    const unchanged = () => {
      beforeWrite();
      if (folderState(folder) !== state) throw new Error(`another process has written to ${folder} in the meantime`);
    };
    const append = async (kind: FileKind, segment: Segment) => {
      await appendSegment(filePath(folder, dayOf(at), kind), segment, unchanged);
      state = folderState(folder);
    };
    const isNewMonth = written.baseMonth !== monthOf(at) || (retention.bytes > 0 && sinceBase(folder) > retention.bytes / PARTS);
    const isSame = end !== undefined && head.settings === end.settings && seq === end.until.seq && reading.state.restoredAt <= end.until.at;
    if (isSame && !isNewMonth && at - end.until.at < DAY) {
      known.set(workspaceId, written);
      return;
    }
    let isGap = false;
    if (end !== undefined) {
      try {
        await append('changes', await changes(store, reading, end));
      } catch (error) {
        if (!(error instanceof MissingChanges)) throw error;
        report(`the archive of the workspace ${workspaceId} has nothing from ${isoTime(end.until.at)} to ${isoTime(at)}: ${error.message}`);
        isGap = true;
      }
    }
    if (isNewMonth || isGap) await append('base', base(store, reading));
    deleteOld(folder, retention, at, beforeWrite);
    known.set(workspaceId, {
      end: { until: head.until, settings: head.settings, audit: head.audit },
      baseMonth: isNewMonth || isGap ? monthOf(at) : written.baseMonth,
      state: folderState(folder),
    });
  };
}
