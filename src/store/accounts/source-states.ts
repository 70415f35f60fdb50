/** What refreshes write of sources, and the lease without which they do not; the same in both dialects (SPEC D23). */
import { RUNS_KEPT } from '../../account/source.ts';
import type { Lease, SourceUpdate, SourceWrites } from '../../ports/stored/source-store.ts';
import { type Changes, one, run, type Work } from '../work.ts';

/** Each change as the work of its transaction. */
export const sourceStateChanges = {
  *writeSources(_now, lease, updates) {
    if (!(yield* isHeld(lease))) return undefined;
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

/** Whether a lease is still that of its fence; its row is held until the commit, so that nobody takes it meanwhile. */
export function* isHeld({ name, fence }: Lease): Work<boolean> {
  return (yield* run('UPDATE leases SET fence = fence WHERE name = $1 AND fence = $2', name, fence)) === 1;
}

function* writeSource({ id, revision, state, run: done, answered = -1 }: SourceUpdate): Work<boolean> {
  const row = yield* one(
    'UPDATE sources SET state = $3 WHERE id = $1 AND revision = $2 RETURNING pk, asked',
    id,
    revision,
    JSON.stringify(state),
  );
  if (row === undefined) return false;
  const pk = Number(row.pk);
  // What was asked since stays.
  if (row.asked !== null && JSON.parse(String(row.asked)).at === answered) yield* run('UPDATE sources SET asked = NULL WHERE pk = $1', pk);
  if (done === undefined) return true;
  const last = yield* one('SELECT n, run FROM source_runs WHERE source_pk = $1 ORDER BY n DESC LIMIT 1', pk);
  // Of those in a row that changed nothing the last one is kept: the others would leave no room for what did.
  const isSame = done.outcome === 'unchanged' && last !== undefined && JSON.parse(String(last.run)).outcome === 'unchanged';
  const n = Number(last?.n ?? 0) + (isSame ? 0 : 1);
  yield* run(
    'INSERT INTO source_runs (source_pk, n, run) VALUES ($1, $2, $3) ON CONFLICT (source_pk, n) DO UPDATE SET run = excluded.run',
    pk,
    n,
    JSON.stringify(done),
  );
  yield* run('DELETE FROM source_runs WHERE source_pk = $1 AND n <= $2', pk, n - RUNS_KEPT);
  return true;
}
