/** Operations that outlast the client's wait: 202, then poll (SPEC D15.55). */
import { v7 } from 'uuid';
import { before } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { Outcome } from './outcome.ts';

/** Per workspace, waiting requests included. */
const MOST_RUNNING = 64;
/** Stored results: age (ms), number per workspace and in all. */
export const RESULT_RETENTION = 600_000;
const MOST_OF_WORKSPACE = 8;
const MOST_RESULTS = 256;

export interface Asker {
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface AsyncOperations {
  /** Returns the result, or a 202 if it takes too long. Rejects with LIMITED if too many run. */
  inTime(asker: Asker, work: () => Promise<Outcome>): Promise<Outcome>;
  /** The result, or the 202 again; undefined if unknown. */
  find(asker: Asker, id: string): Outcome | undefined;
}

interface Pending extends Asker {
  outcome: Outcome;
  /** ms; 0 while the work runs. */
  endedAt: number;
}

export interface Parts {
  /** The longest wait before a 202, ms. */
  readonly patience: number;
  readonly now: () => number;
  /** The result for errors that the client cannot act on. */
  readonly failed: (error: unknown) => Outcome;
}

export function asyncOperations({ patience, now, failed }: Parts): AsyncOperations {
  const running = new Map<string, number>();
  /** Oldest first. */
  const results = new Map<string, Pending>();

  async function counted(workspaceId: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const before = running.get(workspaceId) ?? 0;
    if (before >= MOST_RUNNING)
      throw new WeirError('LIMITED', `${before} requests of this workspace are in progress: try again when some of them are done`);
    running.set(workspaceId, before + 1);
    try {
      return await work();
    } finally {
      const left = running.get(workspaceId)! - 1;
      if (left > 0) running.set(workspaceId, left);
      else running.delete(workspaceId);
    }
  }

  function forget(workspaceId: string): void {
    const ended = [...results].filter(([, { endedAt }]) => endedAt > 0);
    const old = ended.filter(([, { endedAt }]) => endedAt < now() - RESULT_RETENTION);
    const own = ended.filter(([, each]) => each.workspaceId === workspaceId).slice(0, -MOST_OF_WORKSPACE);
    for (const [id] of [...old, ...own]) results.delete(id);
    let kept = ended.filter(([id]) => results.has(id));
    while (kept.length > MOST_RESULTS) {
      const [most] = [...Map.groupBy(kept, ([, each]) => each.workspaceId).values()].sort((a, b) => b.length - a.length);
      kept = kept.filter((each) => each !== most![0]);
      results.delete(most![0]![0]);
    }
  }

  return {
    async inTime(asker, work) {
      const done = counted(asker.workspaceId, work);
      const inTime = await before(done, patience);
      if (inTime !== undefined) return inTime;
      const id = v7();
      const one: Pending = { ...asker, outcome: pending(id), endedAt: 0 };
      results.set(id, one);
      const until = done.catch(failed).then((outcome) => {
        one.outcome = outcome;
        one.endedAt = now();
        forget(asker.workspaceId);
      });
      return { ...pending(id), until };
    },
    find({ workspaceId, keyId }, id) {
      forget(workspaceId);
      const found = results.get(id);
      return found?.workspaceId === workspaceId && found.keyId === keyId ? found.outcome : undefined;
    },
  };
}

const pending = (id: string): Outcome => ({ status: 202, body: { answer: id, landed: false }, location: `/answers/${id}` });
