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
