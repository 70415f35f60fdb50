/** Time as the feed engine sees it; tests hold their own. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** Runs `run` once after `ms`; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** Whole seconds since 1970. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** Rejects what was not answered in time. The work itself goes on. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** The promise, or a rejection with TimeoutError after `ms`. */
export function within<T>(promise: Promise<T>, ms: number, clock: Clock, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new TimeoutError(`${what} did not answer in ${ms} ms`)));
    promise.then(resolve, reject).finally(cancel);
  });
}
