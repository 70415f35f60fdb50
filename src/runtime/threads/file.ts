/** Workspace files, off the main thread (SPEC D28.9). */
import type { WorkspaceFiles } from '../../manage/file/file-port.ts';
import { oneByOne } from '../../serial.ts';
import type { Config } from '../../settings/settings.ts';
import type { FeedSource } from '../engines.ts';
import { reviving } from './rpc.ts';
import { startWaiting } from './waiting-thread.ts';

export type FileSettings = Pick<Config, 'secretsKey' | 'sourceNetworks' | 'webhookNetworks' | 'nat64Prefixes'>;

export interface FileThreadData {
  readonly source: FeedSource;
  readonly settings: FileSettings;
}

export interface FileThreadMethods extends WorkspaceFiles {
  shutdown(): Promise<void>;
}

/** ms; ending the thread frees the heap of a large file. */
const IDLE = 10_000;
/** For 20,000 objects as rows and text, MiB. */
const MEMORY = 384;

/** Starts on demand, ends when idle. One file per workspace at a time. */
export function fileThread(newSource: () => FeedSource, settings: FileSettings): WorkspaceFiles & { close(): Promise<void> } {
  let idle: NodeJS.Timeout | undefined;
  let asked = 0;
  const inTurn = oneByOne();
  const { thread, end } = reviving<FileThreadMethods>(() => {
    const { begin } = startWaiting<FileThreadData>(new URL('./file.thread.ts', import.meta.url), {
      name: 'file',
      resourceLimits: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: MEMORY },
    });
    const source = newSource();
    return begin({ source, settings }, 'writes' in source ? [source.writes] : []);
  });

  const close = () => {
    clearTimeout(idle);
    return end();
  };
  const during = <T>(workspaceId: string, work: (methods: FileThreadMethods) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      clearTimeout(idle);
      asked += 1;
      try {
        return await work(thread());
      } finally {
        asked -= 1;
        if (asked === 0) idle = setTimeout(() => void close().catch(() => {}), IDLE).unref();
      }
    }, workspaceId);

  return {
    exported: (about) => during(about.workspaceId, (methods) => methods.exported(about)),
    applied: (about, given) => during(about.workspaceId, (methods) => methods.applied(about, given)),
    close,
  };
}
