/** Answers that take longer than a client waits: their work goes on, and they are asked for by an id (SPEC D15.55). */
import { v7 } from 'uuid';
import { before } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { Outcome } from './outcome.ts';

/** Requests that may be late and wait or are worked on at once, of a workspace. */
const MOST_AT_WORK = 64;
/** How long a late answer is kept, ms, and how many: of a workspace, and in all. */
export const LATE_KEPT = 600_000;
const MOST_OF_WORKSPACE = 8;
const MOST_KEPT = 256;

/** Whose answer it is. */
export interface Asker {
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface AsyncOperations {
  /** What `work` comes to; where that takes too long, a 202 that says where it is asked for. Rejects with LIMITED where too much is at work. */
  inTime(asker: Asker, work: () => Promise<Outcome>): Promise<Outcome>;
  /** The answer that was late, or again that it is; undefined for one that is not known. */
  find(asker: Asker, id: string): Outcome | undefined;
}

interface Late extends Asker {
  outcome: Outcome;
  /** ms; 0: it is worked on. */
  endedAt: number;
}

/** What late answers are made with. */
export interface LateParts {
  /** How long an answer is waited for, ms. */
  readonly patience: number;
  readonly now: () => number;
  /** The answer where work has failed in a way that its client can do nothing about. */
  readonly failed: (error: unknown) => Outcome;
}

export function asyncOperations({ patience, now, failed }: LateParts): AsyncOperations {
  const atWork = new Map<string, number>();
  /** In the order in which they became late. */
  const late = new Map<string, Late>();

  async function counted(workspaceId: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const before = atWork.get(workspaceId) ?? 0;
    if (before >= MOST_AT_WORK)
      throw new WeirError('LIMITED', `${before} requests of this workspace are worked on: try again when some of them are done`);
    atWork.set(workspaceId, before + 1);
    try {
      return await work();
    } finally {
      const left = atWork.get(workspaceId)! - 1;
      if (left > 0) atWork.set(workspaceId, left);
      else atWork.delete(workspaceId);
    }
  }

  /** Forgets what is too old, and the oldest where there are too many. */
  function forget(workspaceId: string): void {
    const ended = [...late].filter(([, { endedAt }]) => endedAt > 0);
    const old = ended.filter(([, { endedAt }]) => endedAt < now() - LATE_KEPT);
    const own = ended.filter(([, each]) => each.workspaceId === workspaceId).slice(0, -MOST_OF_WORKSPACE);
    for (const [id] of [...old, ...own, ...ended.slice(0, -MOST_KEPT)]) late.delete(id);
  }

  return {
    async inTime(asker, work) {
      const done = counted(asker.workspaceId, work);
      const inTime = await before(done, patience);
      if (inTime !== undefined) return inTime;
      const id = v7();
      const one: Late = { ...asker, outcome: isLate(id), endedAt: 0 };
      late.set(id, one);
      const until = done.catch(failed).then((outcome) => {
        one.outcome = outcome;
        one.endedAt = now();
        forget(asker.workspaceId);
      });
      return { ...isLate(id), until };
    },
    find({ workspaceId, keyId }, id) {
      forget(workspaceId);
      const found = late.get(id);
      return found?.workspaceId === workspaceId && found.keyId === keyId ? found.outcome : undefined;
    },
  };
}

const isLate = (id: string): Outcome => ({ status: 202, body: { answer: id, landed: false }, location: `/answers/${id}` });
