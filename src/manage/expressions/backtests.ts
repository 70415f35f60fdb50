/** Backtests that run as jobs: what is asked for, and what is known of each (SPEC D19.16 to D19.18). */
import type { Report } from '../../backtest/report.ts';
import type { TestedRule } from '../../backtest/rule.ts';
import type { View } from '../../recording/view.ts';
import type { ExpressionKind } from '../../rule.ts';

export const BACKTEST_STATES = ['running', 'done', 'failed', 'cancelled'] as const;

/** What a job is to do. */
export interface BacktestAsked {
  readonly kind: ExpressionKind;
  readonly view: View;
  /** In the order of enforcement. */
  readonly rules: readonly TestedRule[];
  /** The bytes of a recording, gzip or not; whoever hands them over reads them no more. */
  readonly recording: Uint8Array;
}

/** What is known of a job. */
export interface BacktestJob {
  readonly id: string;
  readonly kind: ExpressionKind;
  readonly view: View;
  /** How many rules it tests. */
  readonly rules: number;
  readonly state: (typeof BACKTEST_STATES)[number];
  /** Of the recording as it came, and how many of them have been read. */
  readonly bytes: number;
  readonly readBytes: number;
  readonly requests: number;
  /** ms since 1970; null while it runs. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Why it failed. */
  readonly fault: string | null;
}

/** The jobs of all workspaces in this process. */
export interface Backtests {
  /** Throws REFUSED where one of the workspace runs already, LIMITED where too many run in all. */
  start(workspaceId: string, asked: BacktestAsked): BacktestJob;
  /** Those of a workspace, the newest first. */
  of(workspaceId: string): BacktestJob[];
  find(workspaceId: string, id: string): BacktestJob | undefined;
  /** What came of a job that is done. */
  result(workspaceId: string, id: string): Report | undefined;
  /** Ends a job that runs; forgets one that has ended. */
  remove(workspaceId: string, id: string): void;
}
