/**
 * A function that asks for one key at a time, made of one that asks for many: keys that come in while `atOnce` calls run share the
 * next call, up to `most` of them. A call that fails fails for all its keys.
 */
export function gathered<K, V>(ask: (keys: readonly K[]) => Promise<readonly V[]>, atOnce: number, most: number): (key: K) => Promise<V> {
  const waiting: { readonly key: K; readonly resolve: (value: V) => void; readonly reject: (error: unknown) => void }[] = [];
  let running = 0;

  async function askForAll(): Promise<void> {
    if (running >= atOnce) return;
    running += 1;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, most);
      try {
        const values = await ask(asked.map(({ key }) => key));
        for (const [i, { resolve }] of asked.entries()) resolve(values[i]!);
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    running -= 1;
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      void askForAll();
    });
}
