/** Workspace files, off the main thread (SPEC D28.9). */
import type { WorkspaceFiles } from '../../manage/file/file-port.ts';
import { oneByOne } from '../../serial.ts';
import type { FeedSource } from '../engines.ts';
import { onDemand } from './job.ts';
import type { FileData } from './work/file.ts';

/** ms; ending the thread frees the heap of a large file. */
const IDLE = 10_000;

/** One file per workspace at a time. */
export function fileThread(newSource: () => FeedSource, settings: FileData['settings']): WorkspaceFiles & { close(): Promise<void> } {
  const inTurn = oneByOne();
  const { use, end } = onDemand(
    'file',
    () => {
      const source = newSource();
      return [{ source, settings }, 'writes' in source ? [source.writes] : []];
    },
    IDLE,
  );
  return {
    exported: (about) => inTurn(() => use((files) => files.exported(about)), about.workspaceId),
    applied: (about, given) => inTurn(() => use((files) => files.applied(about, given)), about.workspaceId),
    close: end,
  };
}
