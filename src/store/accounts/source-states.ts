/** Writes of source refreshes, protected by a lease (SPEC D23). */
import type { SourceState } from '../../account/source.ts';
import { askedAfter, type SourceAsk, STORED_RUNS } from '../../account/source-run.ts';
import type { Lease, SourceUpdate, SourceWrites } from '../../ports/stored/source-store.ts';
import { type Changes, notify, one, run, type Work } from '../work.ts';

export const sourceStateChanges = {
  *writeSources(_now, lease, updates) {
    if (!(yield* hasLease(lease))) return undefined;
    const written: string[] = [];
    for (const update of updates) if (yield* writeSource(update)) written.push(update.id);
    return written;
  },
  *claimLease(now, name, holder, ms) {
    const row = yield* one(
      `INSERT INTO leases (name, holder, until, fence) VALUES ($1, $2, ${now} + $3, 1)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
         fence = CASE WHEN leases.holder = excluded.holder THEN leases.fence ELSE leases.fence + 1 END
       WHERE leases.holder = excluded.holder OR leases.until <= ${now} RETURNING fence`,
      name,
      holder,
      ms,
    );
    return row && Number(row.fence);
  },
  *releaseLease(_now, name, holder) {
    yield* run('UPDATE leases SET until = 0 WHERE name = $1 AND holder = $2', name, holder);
  },
} satisfies Changes<Pick<SourceWrites, 'writeSources' | 'claimLease' | 'releaseLease'>>;

/** Locks its row until the commit. */
export function* hasLease({ name, fence }: Lease): Work<boolean> {
  return (yield* run('UPDATE leases SET fence = fence WHERE name = $1 AND fence = $2', name, fence)) === 1;
}

function* writeSource({ id, revision, state, run: done, answered = -1 }: SourceUpdate): Work<boolean> {
  const row = yield* one(
    `UPDATE sources SET state = $3, equal_seq = $4, undone_by = CASE WHEN undone_seq > $4 THEN undone_by END
     WHERE id = $1 AND revision = $2 RETURNING pk, asked`,
    id,
    revision,
    JSON.stringify(state),
    state.equalSeq,
  );
  if (row === undefined) return false;
  const pk = Number(row.pk);
  // Requests made during the refresh remain.
  const asked = row.asked === null ? null : (JSON.parse(String(row.asked)) as SourceAsk);
  const left = askedAfter(asked, answered);
  if (left !== asked) yield* run('UPDATE sources SET asked = $2 WHERE pk = $1', pk, left && JSON.stringify(left));
  if (done === undefined) return true;
  const last = yield* one('SELECT n, run FROM source_runs WHERE source_pk = $1 ORDER BY n DESC LIMIT 1', pk);
  // Of consecutive runs without changes only the last is stored; they would displace others.
  const isSame = done.outcome === 'unchanged' && last !== undefined && JSON.parse(String(last.run)).outcome === 'unchanged';
  const n = Number(last?.n ?? 0) + (isSame ? 0 : 1);
  yield* run(
    'INSERT INTO source_runs (source_pk, n, run) VALUES ($1, $2, $3) ON CONFLICT (source_pk, n) DO UPDATE SET run = excluded.run',
    pk,
    n,
    JSON.stringify(done),
  );
  yield* run('DELETE FROM source_runs WHERE source_pk = $1 AND n <= $2', pk, n - STORED_RUNS);
  return true;
}

/** Unless it is undone, or undoes another one since the source last replaced the content. */
const UNDONE = `SELECT s.pk, s.state, s.undone_by, u.batch_id, u.first_seq, u.landed_at FROM sources s
  LEFT JOIN batches u ON u.workspace_pk = s.workspace_pk AND u.first_seq = (
    SELECT max(x.first_seq) FROM batches x WHERE x.workspace_pk = s.workspace_pk AND x.list_pk = s.list_pk
      AND x.undoes IS NOT NULL AND x.undone = 0 AND x.first_seq > s.equal_seq AND NOT EXISTS (
        SELECT 1 FROM batches t WHERE t.batch_id = x.undoes AND t.undoes IS NOT NULL AND t.first_seq > s.equal_seq))
  WHERE s.list_pk = $1`;

/** `more`: rules added by it. Runs after the undo, in the landing transaction. */
export function* noteUndo(lists: readonly number[], more: number): Work<void> {
  for (const list of lists) {
    // Locks the row: a refresh waits.
    if ((yield* run('UPDATE sources SET revision = revision WHERE list_pk = $1', list)) === 0) continue;
    const row = (yield* one(UNDONE, list))!;
    const { pk, batch_id: batch, first_seq: seq, landed_at: at, undone_by: before } = row;
    const state = JSON.parse(String(row.state)) as SourceState;
    // An estimate until the next refresh counts the entries.
    const isCounted = lists.length === 1 && (state.countedFor ?? null) === before;
    const counted = { ...state, entries: state.entries + more, countedFor: batch };
    const found = batch === null ? [null, 0, 0] : [String(batch), Number(seq), Number(at)];
    yield* run(
      'UPDATE sources SET state = $2, undone_by = $3, undone_seq = $4, undone_at = $5 WHERE pk = $1',
      Number(pk),
      JSON.stringify(isCounted ? counted : state),
      ...found,
    );
    yield* moveSourceRevision();
  }
}

export function* moveSourceRevision(): Work<void> {
  yield* notify("UPDATE counters SET value = value + 1 WHERE name = 'source_revision'");
}
