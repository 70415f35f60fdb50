/** ms */
const GATHER = 1_000;

/** Runs work within a second, once for all requests. `stop` cancels it. */
export function soon(work: () => unknown): { ask(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  return {
    ask() {
      if (isOver) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void work();
      }, GATHER).unref();
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Returns a stop function that runs it a last time. */
export function everyMinute<T>(work: () => T): () => T {
  const timer = setInterval(() => void work(), 60_000).unref();
  return () => {
    clearInterval(timer);
    return work();
  };
}

/** Schedules work once for the next turn (event loop, or `later`), repeated while it returns true. */
export function coalesced(work: () => boolean, later: (turn: () => void) => unknown = setImmediate): () => void {
  let isPlanned = false;
  return function plan() {
    if (isPlanned) return;
    isPlanned = true;
    later(() => {
      isPlanned = false;
      if (work()) plan();
    });
  };
}
