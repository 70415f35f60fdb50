/** Buffers up to this size are kept, in bytes: enough for a feed of the default cap. */
const KEPT = 2 ** 23;

/**
 * Working memory of one function: a call gives a buffer of at least so many bytes, the one of the last call if it is large enough,
 * with whatever it held. Fresh memory costs a page fault every 4 KiB, which is more than some of the work that is done in it.
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
