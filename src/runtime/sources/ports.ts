import type { Caller } from '../../account/caller.ts';
import type { Source } from '../../account/source.ts';
import type { ApplyPorts } from '../../manage/sources/apply.ts';
import type { Log } from '../../ports/log.ts';
import type { SourceReads, SourceWithSecret, SourceWrites } from '../../ports/stored/source-store.ts';
import type { PoliteFetching } from './fetching.ts';
import type { OwnedLease } from './lease.ts';

export interface RefresherPorts extends PoliteFetching {
  readonly apply: ApplyPorts;
  readonly store: SourceReads & SourceWrites;
  readonly lease: OwnedLease;
  /** Called with the new lease, before any fetch. */
  begin(): void;
  /** Authentication headers; undefined: the secret is unreadable. */
  readonly credentials: (source: SourceWithSecret) => Readonly<Record<string, string>> | undefined;
  /** The caller for guard rails; undefined: the workspace is deleted. */
  readonly callerOf: (source: Source) => Promise<Caller | undefined>;
  readonly random: () => number;
  readonly monotonic: () => number;
  readonly log: Log;
}
