/** How long is waited for more of the same, ms. */
const GATHER = 1_000;

/** A function that asks for work to be done within a second, once for all who ask until then. `stop`: it is not done any more. */
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
