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
