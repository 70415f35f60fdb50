/** Which engines a configuration names, opened for one process. With service.ts and the threads the only place that names drivers. */
import type { Config } from './config.ts';
import type { Store, Stream } from './ports.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { openSqliteStream } from './stream/sqlite.ts';

/** Opens the store in this thread and brings its schema up to date: for commands that run beside a server. */
export async function openStore(config: Config): Promise<Store> {
  return openSqliteStore(config.dataDir);
}

/** Opens the stream in this thread. */
export async function openStream(config: Config): Promise<Stream> {
  return openSqliteStream(config.dataDir);
}
