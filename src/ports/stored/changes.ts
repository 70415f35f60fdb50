/** The changes of a workspace (SPEC D32). */
import type { SourceRun } from '../../account/source-run.ts';
import type { Kind } from '../../rule.ts';
import type { RuleSink } from '../snapshot.ts';
import type { AuditRow } from './account-store.ts';
import type { Step } from './rule-store.ts';

export interface ChangeSender {
  readonly keyId: string | null;
  readonly actor: string | null;
  readonly personId: string | null;
  readonly sourceId: string | null;
  readonly undoes: string | null;
  readonly inPlace?: true;
}

/** By one sender in one list, or kind without lists, within a span of minutes. */
export interface RuleChangeSum {
  readonly kind: Kind;
  /** null: a kind without lists, or a permanently deleted list. */
  readonly list: { readonly id: string; readonly name: string } | null;
  /** null: expired. */
  readonly by: ChangeSender | null;
  /** Minutes since 1970. */
  readonly first: number;
  readonly last: number;
  /** `added` includes restored rules and rules set again after their expiry. */
  readonly added: number;
  readonly renewed: number;
  readonly removed: number;
  readonly expired: number;
  /** null: none; undefined: several. */
  readonly batchId: string | null | undefined;
  readonly reason: string | null | undefined;
}

/** Minutes since 1970, `to` exclusive. */
export interface RuleChangeSpan {
  readonly from: number;
  readonly to: number;
  readonly sums: readonly RuleChangeSum[];
}

/** Start of the complete history, ms. */
export interface HistoryStart {
  /** When the schema began to count them, 0 if nothing had been applied before. Older than seven days are deleted. */
  readonly rules: number;
  /** Oldest audit row of the workspace; null: none. */
  readonly oldestAudit: number | null;
}

export interface NamedRun {
  readonly sourceId: string;
  readonly listId: string;
  readonly name: string;
  readonly n: number;
  readonly run: SourceRun;
}

export interface ChangeReads {
  /** The last change before an instant (ms); 0: none known. */
  placeAt(workspaceId: string, at: number): Promise<number>;
  /**
   * After change `seq`, with expired ones, in one read; none for another workspace's list. Complete for seven days, but not before
   * `rulesKnownSince`.
   */
  rulesAt(workspaceId: string, listId: string, seq: number, sink: RuleSink): Promise<void>;
  /** ms: replaced versions before were dropped (SPEC D9.10); 0: none. */
  rulesKnownSince(workspaceId: string): Promise<number>;
  /**
   * The last span of `span` minutes with changes, from `from` to before `to` (minutes since 1970). Reads in small chunks, each run by
   * `step` if given.
   */
  ruleChanges(workspaceId: string, window: { from: number; to: number; span: number }, step?: Step): Promise<RuleChangeSpan | undefined>;
  /** Since `from` (ms) before a place (ms, id), newest first. */
  auditBetween(
    workspaceId: string,
    window: { from: number; before: { readonly at: number; readonly id: number } },
    limit: number,
  ): Promise<AuditRow[]>;
  /** Unordered. */
  allRuns(workspaceId: string): Promise<NamedRun[]>;
  historyStart(workspaceId: string): Promise<HistoryStart>;
  /** Including deleted lists; null: all lists of the workspace. */
  feedScope(workspaceId: string, feedId: string): Promise<readonly string[] | null>;
}
