/**
 * Plans work for the next turn (of the event loop, unless `later` says another), once however often it is asked for, and again as long as
 * the work says that there is more to do.
 */
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
