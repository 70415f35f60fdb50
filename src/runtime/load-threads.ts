import type { Config } from '../config.ts';
import { type FeedThreadData, loadFeedThread } from './feeds.ts';
import type { WaitingThread } from './waiting-thread.ts';
import { loadWriter, type WriterData } from './writer.ts';

/** Threads of a service that load their parts while the main thread loads its own: half of a start is loading. */
export interface LoadedThreads {
  readonly writer?: WaitingThread<WriterData> | undefined;
  readonly feeds?: WaitingThread<FeedThreadData> | undefined;
}

/** Starts the threads that a configuration needs. */
export const loadThreads = ({ databaseUrl, roles }: Config): LoadedThreads => ({
  writer: databaseUrl === undefined ? loadWriter() : undefined,
  feeds: roles.includes('feeds') ? loadFeedThread() : undefined,
});
