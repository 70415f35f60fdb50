/** Counted in the transaction that writes or deletes (SPEC D22.2). */
import type { UsedBytes } from '../../ports/stored/account-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, run, type Work } from '../work.ts';

/** In the order in which a transaction changes several, which prevents deadlocks. */
export type UsageKind = keyof UsedBytes | 'told';

/** Approximate bytes: numbers, ids, indexes. */
const ROW = 200;

export const bytesOf = (...texts: readonly (string | null)[]): number =>
  texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), ROW);

export function* addUsage(what: UsageKind, workspacePk: number, bytes: number): Work<void> {
  if (bytes === 0) return;
  yield* run(
    `INSERT INTO taken_bytes (what, workspace_pk, bytes) VALUES ($1, $2, $3)
     ON CONFLICT (what, workspace_pk) DO UPDATE SET bytes = taken_bytes.bytes + excluded.bytes`,
    what,
    workspacePk,
    bytes,
  );
}

export function* releaseUsage(what: UsageKind, rows: readonly Row[]): Work<void> {
  const sums = new Map<number, number>();
  for (const { workspace_pk, bytes } of rows) {
    if (workspace_pk !== null) sums.set(Number(workspace_pk), (sums.get(Number(workspace_pk)) ?? 0) + Number(bytes));
  }
  for (const [workspacePk, bytes] of [...sums].sort(([a], [b]) => a - b)) yield* addUsage(what, workspacePk, -bytes);
}

export function* usedBytesOf(workspaceId: string): Work<UsedBytes> {
  const rows = yield* all(
    `SELECT what, bytes FROM taken_bytes WHERE what IN ('audit', 'answers') AND workspace_pk = ${WORKSPACE_PK}`,
    workspaceId,
  );
  const of = (what: UsageKind) => Number(rows.find((row) => row.what === what)?.bytes ?? 0);
  return { audit: of('audit'), answers: of('answers') };
}
