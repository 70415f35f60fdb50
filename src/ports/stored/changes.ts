/** What has changed in a workspace, as the store tells it (SPEC D32). Types only; `changesConformance` is run by every driver. */
import type { SourceRun } from '../../account/source-run.ts';
import type { Kind } from '../../rule.ts';
import type { RuleSink } from '../snapshot.ts';
import type { AuditRow } from './account-store.ts';
import type { Step } from './rule-store.ts';

/** Who changed rules; of rules that expired nothing is known. */
export interface ChangeSender {
  readonly keyId: string | null;
  readonly actor: string | null;
  readonly personId: string | null;
  /** The source whose refresh it was. */
  readonly sourceId: string | null;
  /** The batch that was undone. */
  readonly undoes: string | null;
  /** Rules were changed in place (D33.1), and not sent again. */
  readonly inPlace?: true;
}

/** What happened to the rules of one list, or of one kind that has no lists, by one sender in a span of minutes. */
export interface RuleChangeSum {
  readonly kind: Kind;
  /** null: a kind without lists, or a list that is gone for good. */
  readonly list: { readonly id: string; readonly name: string } | null;
  /** null: they expired. */
  readonly by: ChangeSender | null;
  /** The first and the last minute of it, since 1970. */
  readonly first: number;
  readonly last: number;
  /** Rules that are there and were not (new, put back, or come again after their expiry); written again; taken away; expired. */
  readonly added: number;
  readonly renewed: number;
  readonly removed: number;
  readonly expired: number;
  /** The one batch or reason of all of it; null: none; `several`: undefined. */
  readonly batchId: string | null | undefined;
  readonly reason: string | null | undefined;
}

/** A span of time in which something happened; minutes since 1970, `to` excluded. */
export interface RuleChangeSpan {
  readonly from: number;
  readonly to: number;
  readonly sums: readonly RuleChangeSum[];
}

/** How far back what is told is whole, ms since 1970. */
export interface ChangesKept {
  /** Changes of rules: when the schema began to count them, 0 where nothing had landed before; older ones than seven days go. */
  readonly rules: number;
  /** The oldest row of the workspace's audit log; null: there is none. */
  readonly oldestAudit: number | null;
}

/** A refresh of a source. */
export interface NamedRun {
  readonly sourceId: string;
  readonly listId: string;
  readonly name: string;
  readonly n: number;
  readonly run: SourceRun;
}

export interface ChangeReads {
  /** The number of the last change that had landed in a workspace at an instant (ms); 0: none that is known still. */
  placeAt(workspaceId: string, at: number): Promise<number>;
  /**
   * The access rules of a list as they were behind the change of a number, expired ones too, in one read; none for a list that is not the
   * workspace's. Whole only where no change since then is forgotten: for seven days, but for `rulesKnownSince`.
   */
  rulesAt(workspaceId: string, listId: string, seq: number, sink: RuleSink): Promise<void>;
  /** Until when (ms) what changes replaced was given up (SPEC D9.10); 0: none of it. */
  rulesKnownSince(workspaceId: string): Promise<number>;
  /**
   * Of the spans of `span` minutes from `from` on, before `to` (minutes since 1970), the last one in which rules changed; undefined: none.
   * Read in pieces of few rows; `step` does each of them, at once where it is absent.
   */
  ruleChanges(workspaceId: string, window: { from: number; to: number; span: number }, step?: Step): Promise<RuleChangeSpan | undefined>;
  /** The audit rows of a workspace since `from` (ms), newest first, those before a place (ms, id), at most `limit`. */
  auditBetween(
    workspaceId: string,
    window: { from: number; before: { readonly at: number; readonly id: number } },
    limit: number,
  ): Promise<AuditRow[]>;
  /** The refreshes of all sources of a workspace that are known, in no order: the last of each. */
  allRuns(workspaceId: string): Promise<NamedRun[]>;
  changesKept(workspaceId: string): Promise<ChangesKept>;
  /** The lists that a composed feed has, and those that it had before they were deleted, by their ids; null: all lists of its workspace. */
  feedScope(workspaceId: string, feedId: string): Promise<readonly string[] | null>;
}
