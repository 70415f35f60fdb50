/** The feed thread: reads snapshots, expands countries and ASNs, coalesces and renders, so that no request waits behind a rebuild. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from './clock.ts';
import { feedEngine } from './feed/engine.ts';
import type { FeedThreadData, FeedThreadMethods } from './feed-builder.ts';
import { geoDatabase } from './geo/database.ts';
import type { StoreWrites } from './ports.ts';
import { openSqliteReads } from './store/sqlite.ts';
import { remoteCalls, serveCalls } from './thread.ts';

const { source, geo } = workerData as FeedThreadData;
const port = parentPort!;
const store = openSqliteReads(source.dataDir);
const { recordFeed } = remoteCalls<Pick<StoreWrites, 'recordFeed'>>(source.writes, ['recordFeed']);
let database = geoDatabase(geo);

const methods: FeedThreadMethods = {
  ...feedEngine({ store, recordFeed, geo: () => database, clock: systemClock }),
  async useGeo(data) {
    database = geoDatabase(data);
  },
  async shutdown() {
    await store.close();
    source.writes.close();
    setImmediate(() => port.close());
  },
};
const body = (value: unknown) => (value as { bytes?: Uint8Array<ArrayBuffer> } | undefined)?.bytes;
serveCalls(port, methods, (value) => [body(value)?.buffer ?? []].flat());
