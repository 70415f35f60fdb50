/** Returns a stop function that runs it a last time. */
export function everyMinute<T>(work: () => T): () => T {
  const timer = setInterval(() => void work(), 60_000).unref();
  return () => {
    clearInterval(timer);
    return work();
  };
}
