/** Waiting reports of one workspace share a transaction; workspaces take turns (SPEC D31.5). */
import type { HistoryWrites, HitReport } from '../../ports/history.ts';

/** Reports per transaction, so landing waits for no more; also the limit of waiting reports per workspace. */
const AT_ONCE = 20;
const WAITING = 100;

/** False: too many are waiting. Rejects if it could not be stored. */
export type RecordHits = (workspaceId: string, report: HitReport) => Promise<boolean>;

interface Waiting {
  readonly report: HitReport;
  readonly done: { resolve(isCounted: boolean): void; reject(error: unknown): void };
}

/** `now` in ms. `onCounted`: packets and requests by list UUID (null: no list). `onError`: once until a write succeeds. */
export function hitRecorder(
  store: Pick<HistoryWrites, 'recordHits'>,
  now: () => number,
  onCounted: (listId: string | null, hits: number) => void,
  onError: (error: Error) => void,
): RecordHits {
  /** The longest waiting first. */
  const workspaces = new Map<string, Waiting[]>();
  let isWriting = false;
  let isFailing = false;

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    for (let next = first(); next !== undefined; next = first()) {
      const [workspaceId, waiting] = next;
      const batch = waiting.splice(0, AT_ONCE);
      workspaces.delete(workspaceId);
      if (waiting.length > 0) workspaces.set(workspaceId, waiting);
      try {
        const counted = await store.recordHits(
          workspaceId,
          batch.map(({ report }) => report),
          now(),
        );
        for (const [listId, hits] of counted) onCounted(listId, hits);
        for (const { done } of batch) done.resolve(true);
        isFailing = false;
      } catch (error) {
        if (!isFailing) onError(error as Error);
        isFailing = true;
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  }

  const first = () => workspaces.entries().next().value;

  return async (workspaceId, report) => {
    const waiting = workspaces.get(workspaceId) ?? [];
    if (waiting.length >= WAITING) return false;
    workspaces.set(workspaceId, waiting);
    return new Promise<boolean>((resolve, reject) => {
      waiting.push({ report, done: { resolve, reject } });
      void writeAll();
    });
  };
}
