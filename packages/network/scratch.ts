/** The largest reused buffer, in bytes: enough for a feed of the default limit. */
const MAX_REUSED = 2 ** 23;

/**
 * Working memory of one function. Each call returns at least `bytes` bytes: the previous buffer, not cleared, if it is large enough. New
 * memory would cost a page fault every 4 KiB, more time than some of the work itself.
 */
export function newScratch(): (bytes: number) => ArrayBuffer {
  let buffer = new ArrayBuffer(0);
  return (bytes) => {
    if (bytes <= buffer.byteLength) return buffer;
    const fresh = new ArrayBuffer(bytes);
    if (bytes <= MAX_REUSED) buffer = fresh;
    return fresh;
  };
}
