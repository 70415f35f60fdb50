import type { StoreWrites } from '../ports/store.ts';

/** How often the last use of keys is written, ms. */
const WRITE_EVERY = 60_000;

/** Writes once a minute which keys were used when (ms). Returns the function that ends this with a last write. */
export function startKeyUsage(
  takeUsed: () => readonly { id: string; at: number }[],
  store: Pick<StoreWrites, 'touchKeys'>,
  onError: (error: Error) => void,
): () => Promise<void> {
  const write = async () => {
    const used = takeUsed();
    if (used.length > 0) await store.touchKeys(used).catch(onError);
  };
  const timer = setInterval(() => void write(), WRITE_EVERY);
  timer.unref();
  return () => {
    clearInterval(timer);
    return write();
  };
}
