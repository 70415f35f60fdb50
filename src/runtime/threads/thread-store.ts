import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { openSqliteReads } from '../../store/sqlite/store.ts';
import type { FeedSource } from '../engines.ts';
import { methodsOf, remoteCalls } from './rpc.ts';

/** The file with writes in the writer thread, or `connections` to PostgreSQL. */
export async function openThreadStore(
  from: FeedSource,
  connections: { readonly reads: number; readonly changes: number },
): Promise<StoreReads & StoreWrites & { close(): Promise<void> }> {
  if ('databaseUrl' in from) return (await import('../../store/postgres/store.ts')).openPostgresStore(from.databaseUrl, { connections });
  const reads = openSqliteReads(from.dataDir);
  const writes = remoteCalls<StoreWrites>(from.writes);
  const close = async () => {
    await reads.close();
    from.writes.close();
  };
  return methodsOf<StoreWrites, typeof reads>((method, args) => (writes[method] as (...given: unknown[]) => unknown)(...args), {
    ...reads,
    close,
  });
}
