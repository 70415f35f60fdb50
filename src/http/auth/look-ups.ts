/** Look-ups of keys in the store, each key once for all who ask for it at the same time. */
export interface LookUps<T> {
  /** The result of `work` for a key; undefined when too many look-ups run already and this one may not be one more. */
  run(key: string, more: boolean, work: () => Promise<T>): Promise<T> | undefined;
}

/** No look-ups yet; `most` is from how many on they are too many. */
export function lookUps<T>(most: number): LookUps<T> {
  const running = new Map<string, Promise<T>>();
  return {
    run(key, more, work) {
      const known = running.get(key);
      if (known !== undefined) return known;
      if (!more && running.size >= most) return undefined;
      const result = work().finally(() => running.delete(key));
      running.set(key, result);
      return result;
    },
  };
}
