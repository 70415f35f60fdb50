/**
 * Plans work for the next turn of the event loop, once however often it is asked for, and again as long as the work says that there is
 * more to do.
 */
export function eachTurn(work: () => boolean): () => void {
  let isPlanned = false;
  return function plan() {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      if (work()) plan();
    });
  };
}
