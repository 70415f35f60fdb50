/** Reads, compares and applies workspace files (SPEC D28). */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../clock.ts';
import { sourceReach } from '../../fetch/reach.ts';
import { workspaceFiles } from '../../manage/file/files.ts';
import type { FileThreadData, FileThreadMethods } from './file.ts';
import { serveCalls, shutdownBy } from './rpc.ts';
import { openThreadStore } from './thread-store.ts';
import { beginning } from './waiting-thread.ts';

/** PostgreSQL connections. */
const CONNECTIONS = { reads: 2, changes: 2 };

const { source, settings } = await beginning<FileThreadData>();
const port = parentPort!;
const store = await openThreadStore(source, CONNECTIONS);
const methods: FileThreadMethods = {
  ...workspaceFiles({
    store,
    now: systemClock.now,
    secretKeys: settings.secretsKey,
    sourceReach: sourceReach(settings.sourceNetworks, settings.nat64Prefixes),
    webhookReach: sourceReach(settings.webhookNetworks, settings.nat64Prefixes),
  }),
  shutdown: shutdownBy(port, store.close),
};
serveCalls(port, methods);
