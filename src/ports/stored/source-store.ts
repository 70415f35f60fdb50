/** The store of sources (SPEC D23), and the leases by which one process of many does a thing. Types only. */
import type { Author } from '../../account/caller.ts';
import type { ListSettings } from '../../account/list.ts';
import type { Source, SourceSettings, SourceState } from '../../account/source.ts';
import type { SavedSource, SourcePatch } from '../../account/source-change.ts';
import type { SourceAsk, SourceRun } from '../../account/source-run.ts';
import type { ChangeOptions, DeleteOptions, Page, PageRequest } from './account-store.ts';

/** A source, how it is, and what is asked of it. */
export interface SourceRecord {
  readonly source: Source;
  readonly state: SourceState;
  readonly asked: SourceAsk | null;
}

/** With its secret, sealed (`null`: it has none); whoever refreshes it asks for that, and nobody else. */
export interface SourceWithSecret extends SourceRecord {
  readonly secret: Uint8Array | null;
}

/** A source that is made. The id is given: its secret is sealed for it. */
export interface NewSource extends SourceSettings {
  readonly id: string;
  /** Of its list; made up where it is absent. */
  readonly listId?: string;
  readonly name: string;
  /** Stored defaults of the feed of its list. */
  readonly list: ListSettings;
  readonly secret: Uint8Array | null;
}

/** How many sources, and lists, the workspace may have; 0: any number. */
export interface SourceRoom {
  readonly maxSources: number;
  readonly maxLists: number;
}

/** What a refresh writes of a source. */
export interface SourceUpdate {
  readonly id: string;
  /** Of the source that it was made for: where that was set meanwhile, nothing is written. */
  readonly revision: number;
  readonly state: SourceState;
  /** Kept among the last runs. */
  readonly run?: SourceRun;
  /** The instant of what was asked and is done now. */
  readonly answered?: number;
}

/** Who may do what only one does: writes that carry it are refused once another holds the lease. */
export interface Lease {
  readonly name: string;
  readonly fence: number;
}

export interface SourceReads {
  /** Moves with every change of a source by anybody but who refreshes it. */
  sourceRevision(): Promise<number>;
  /** Of all workspaces, oldest first. */
  allSources(page: PageRequest): Promise<Page<SourceWithSecret>>;
  /** Of one workspace, oldest first. */
  sourcePage(workspaceId: string, page: PageRequest): Promise<Page<SourceRecord>>;
  /** One of a workspace; undefined for an unknown one. */
  source(workspaceId: string, id: string): Promise<SourceRecord | undefined>;
  /** Its last runs, newest first. */
  sourceRuns(workspaceId: string, id: string): Promise<SourceRun[]>;
}

export interface SourceWrites {
  /** Makes a source and its list. Rejects with REFUSED where there is no room, or a list or feed has the name. */
  createSource(workspaceId: string, source: NewSource, room: SourceRoom, change?: ChangeOptions): Promise<SourceRecord>;
  /** `secret`: undefined keeps the one that there is. What is read in another way from now on is fetched at once. */
  updateSource(
    workspaceId: string,
    id: string,
    patch: SourcePatch & { readonly secret?: Uint8Array | null },
    change?: ChangeOptions,
  ): Promise<SourceRecord>;
  pauseSource(workspaceId: string, id: string, isPaused: boolean, by?: Author): Promise<SourceRecord>;
  /** Deletes it with its list, as `deleteList` does, whose restoring brings it back, paused; with `keepList` it leaves an ordinary list. */
  deleteSource(workspaceId: string, id: string, change?: DeleteOptions & { readonly keepList?: boolean }): Promise<void>;
  /** Asks something of it. Rejects with REFUSED where something else is asked that is not done. */
  askSource(workspaceId: string, id: string, ask: SourceAsk): Promise<SourceRecord>;
  /** Makes these in a workspace, their lists being there. Those with a credential wait for their secret. */
  restoreSources(workspaceId: string, sources: readonly SavedSource[], by?: Author): Promise<void>;
  /** Writes what refreshes did. The ids that were written; undefined where another holds the lease: then none was. */
  writeSources(lease: Lease, updates: readonly SourceUpdate[]): Promise<string[] | undefined>;
  /** Takes, or holds for longer, what one process of many does, for `ms` from now. The fence; undefined where another holds it. */
  claimLease(name: string, holder: string, ms: number): Promise<number | undefined>;
  /** Gives it back, where it is held. */
  releaseLease(name: string, holder: string): Promise<void>;
}
