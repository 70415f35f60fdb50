/** Access rules and their changes as the archive reads them (SPEC D61). */
import type { RuleOrigin } from './rule-store.ts';
import type { StoredRule } from './stored-rule.ts';

/** Including deleted ones that can be restored. */
export interface ArchivedList {
  /** pk */
  readonly place: number;
  readonly id: string;
}

export interface ArchiveState {
  /** pk */
  readonly workspace: number;
  /** 0: none is stored. */
  readonly seq: number;
  /** Changes up to this number are incomplete. */
  readonly lostUntil: number;
  /** Of the store, from a backup: what landed before and is not in the backup is unknown. ms; 0: never. */
  readonly restoredAt: number;
  readonly lists: readonly ArchivedList[];
}

/** All changes after `from` to `to`; for a base (`from` null) the rules at `to`. */
export interface ArchiveScan {
  readonly workspace: number;
  readonly list: ArchivedList;
  readonly from: number | null;
  readonly to: number;
  /** Current rules are read first: a rule that changes in between has a previous version afterwards. */
  readonly of: 'current' | 'previous';
  /** The last row of the previous page. */
  readonly after: readonly [changed: number, id: number];
}

/** The state of a rule from the item `seq` on. */
export interface ArchiveEvent {
  readonly id: number;
  readonly target: string;
  readonly listId: string;
  readonly seq: number;
  /** ms; null: not stored any more. */
  readonly at: number | null;
  /** null: removed. */
  readonly stored: StoredRule | null;
  /** Of the rule, or of its removal. */
  readonly by: RuleOrigin | null;
}

export interface ArchivePage {
  readonly events: readonly ArchiveEvent[];
  /** null: the last page. */
  readonly next: ArchiveScan['after'] | null;
}

export interface ArchiveReads {
  /** undefined: no such workspace. */
  archiveState(workspaceId: string): Promise<ArchiveState | undefined>;
  /** In bounded pages; the events of a rule are in order, and may be repeated. */
  archivePage(scan: ArchiveScan, limit: number): Promise<ArchivePage>;
}
