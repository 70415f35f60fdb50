/** Sources (SPEC D23), and leases that elect one process for a task. */
import type { Author } from '../../account/caller.ts';
import type { ListSettings } from '../../account/list.ts';
import type { Source, SourceSettings, SourceState } from '../../account/source.ts';
import type { SavedSource, SourcePatch } from '../../account/source-change.ts';
import type { SourceAsk, SourceRun } from '../../account/source-run.ts';
import type { ChangeOptions, DeleteOptions, Page, PageRequest } from './account-store.ts';

export interface SourceRecord {
  readonly source: Source;
  readonly state: SourceState;
  readonly asked: SourceAsk | null;
}

/** null: none. Only the refresh reads it. */
export interface SourceWithSecret extends SourceRecord {
  readonly secret: Uint8Array | null;
}

/** Encrypted for the given id. */
export interface NewSource extends SourceSettings {
  readonly id: string;
  /** Of its list; generated if absent. */
  readonly listId?: string;
  readonly name: string;
  readonly list: ListSettings;
  readonly secret: Uint8Array | null;
}

/** 0: none. */
export interface SourceQuota {
  readonly maxSources: number;
  readonly maxLists: number;
}

export interface SourceUpdate {
  readonly id: string;
  /** Of the refresh; if it has changed, nothing is written. */
  readonly revision: number;
  readonly state: SourceState;
  readonly run?: SourceRun;
  /** Of the request that is now done. */
  readonly answered?: number;
}

/** Writes are refused once another process has it. */
export interface Lease {
  readonly name: string;
  readonly fence: number;
}

export interface SourceReads {
  /** Changes with every change of a source, except by a refresh. */
  sourceRevision(): Promise<number>;
  /** Oldest first. */
  allSources(page: PageRequest): Promise<Page<SourceWithSecret>>;
  /** Oldest first. */
  sourcePage(workspaceId: string, page: PageRequest): Promise<Page<SourceRecord>>;
  source(workspaceId: string, id: string): Promise<SourceRecord | undefined>;
  /** Newest first. */
  sourceRuns(workspaceId: string, id: string): Promise<SourceRun[]>;
}

export interface SourceWrites {
  /** With its list. REFUSED: a limit, or the name is used. */
  createSource(workspaceId: string, source: NewSource, room: SourceQuota, change?: ChangeOptions): Promise<SourceRecord>;
  /** `secret` undefined: unchanged. A change of how it is read triggers a refresh. */
  updateSource(
    workspaceId: string,
    id: string,
    patch: SourcePatch & { readonly secret?: Uint8Array | null },
    change?: ChangeOptions,
  ): Promise<SourceRecord>;
  pauseSource(workspaceId: string, id: string, isPaused: boolean, by?: Author): Promise<SourceRecord>;
  /** With its list (see `deleteList`), which restores it, paused. `keepList` leaves an ordinary list. */
  deleteSource(workspaceId: string, id: string, change?: DeleteOptions & { readonly keepList?: boolean }): Promise<void>;
  /** REFUSED: another request is pending. */
  askSource(workspaceId: string, id: string, ask: SourceAsk): Promise<SourceRecord>;
  /** For existing lists. Those with a credential wait for their secret. */
  restoreSources(workspaceId: string, sources: readonly SavedSource[], by?: Author): Promise<void>;
  /** Returns the written ids; undefined: another process has the lease, nothing was written. */
  writeSources(lease: Lease, updates: readonly SourceUpdate[]): Promise<string[] | undefined>;
  /** For `ms`. Returns the fence; undefined: another process has it. */
  claimLease(name: string, holder: string, ms: number): Promise<number | undefined>;
  /** No effect without the lease. */
  releaseLease(name: string, holder: string): Promise<void>;
}
