/** SPEC D19.16 to D19.18. */
import type { Report } from '../../backtest/report.ts';
import type { TestedRule } from '../../backtest/rule.ts';
import type { View } from '../../recording/view.ts';
import type { ExpressionKind } from '../../rule.ts';

export const BACKTEST_STATES = ['running', 'done', 'failed', 'cancelled'] as const;

export interface BacktestAsked {
  readonly kind: ExpressionKind;
  readonly view: View;
  /** In evaluation order. */
  readonly rules: readonly TestedRule[];
  /** Gzip or plain. Ownership moves to the job. */
  readonly recording: Uint8Array;
}

export interface BacktestJob {
  readonly id: string;
  readonly kind: ExpressionKind;
  readonly view: View;
  readonly rules: number;
  readonly state: (typeof BACKTEST_STATES)[number];
  /** As sent. */
  readonly bytes: number;
  readonly readBytes: number;
  readonly requests: number;
  /** ms since 1970; null while it runs. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly fault: string | null;
}

/** Jobs of all workspaces in this process. */
export interface Backtests {
  /** Throws REFUSED if the workspace has a running job, LIMITED if too many run in all. */
  start(workspaceId: string, asked: BacktestAsked): BacktestJob;
  of(workspaceId: string): BacktestJob[];
  find(workspaceId: string, id: string): BacktestJob | undefined;
  result(workspaceId: string, id: string): Report | undefined;
  /** Cancels or forgets a job. */
  remove(workspaceId: string, id: string): void;
}
