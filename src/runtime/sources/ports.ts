import type { Caller } from '../../account/caller.ts';
import type { Source } from '../../account/source.ts';
import type { ApplyPorts } from '../../manage/sources/apply.ts';
import type { Log } from '../../ports/log.ts';
import type { SourceReads, SourceWithSecret, SourceWrites } from '../../ports/stored/source-store.ts';
import type { PoliteFetching } from './fetching.ts';
import type { OwnedLease } from './lease.ts';

/** What refreshing works with. */
export interface RefresherPorts extends PoliteFetching {
  readonly apply: ApplyPorts;
  readonly store: SourceReads & SourceWrites;
  readonly lease: OwnedLease;
  /** Called before anything is fetched, by whoever has come to hold the lease. */
  begin(): void;
  /** The headers that show who asks; undefined: its secret cannot be read. */
  readonly credentials: (source: SourceWithSecret) => Readonly<Record<string, string>> | undefined;
  /** Who a source is when its entries are judged; undefined: its workspace is gone. */
  readonly callerOf: (source: Source) => Promise<Caller | undefined>;
  readonly random: () => number;
  readonly monotonic: () => number;
  readonly log: Log;
}
