/** The largest buffer that is kept, in bytes: enough for a feed of the default cap. */
const KEPT = 2 ** 23;

/**
 * Working memory for one function. Each call returns a buffer of at least `bytes` bytes: the previous one, not cleared, if it is large
 * enough. New memory would cost a page fault every 4 KiB, which takes longer than some of the work done in it.
 */
export function newScratch(): (bytes: number) => ArrayBuffer {
  let kept = new ArrayBuffer(0);
  return (bytes) => {
    if (bytes <= kept.byteLength) return kept;
    const fresh = new ArrayBuffer(bytes);
    if (bytes <= KEPT) kept = fresh;
    return fresh;
  };
}
