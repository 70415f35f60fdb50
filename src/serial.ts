import { WeirError } from './errors.ts';

/**
 * Runs work of one name in sequence, whether it succeeds or fails. `wait` may start it earlier: it receives the end of the previous work.
 */
export function oneByOne(wait: (last: Promise<unknown>) => Promise<unknown> = (last) => last) {
  const lasts = new Map<string, Promise<unknown>>();
  return <T>(work: () => Promise<T>, name = ''): Promise<T> => {
    const done = wait(lasts.get(name) ?? Promise.resolve()).then(work);
    const ended: Promise<unknown> = done
      .catch(() => undefined)
      .then(() => {
        if (lasts.get(name) === ended) lasts.delete(name);
      });
    lasts.set(name, ended);
    return done;
  };
}

/** Runs up to `most` of one name at a time, first in first out. Rejects with LIMITED if work cannot start within `patience` (ms). */
export function fewAtOnce(most: number) {
  const lines = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async <T>(work: () => Promise<T>, name = '', patience?: number): Promise<T> => {
    const line = lines.get(name) ?? { running: 0, waiting: [] };
    lines.set(name, line);
    if (line.running === most) await turnIn(line.waiting, patience);
    else line.running += 1;
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else {
        line.running -= 1;
        if (line.running === 0) lines.delete(name);
      }
    }
  };
}

function turnIn(waiting: (() => void)[], patience: number | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const begin = () => {
    clearTimeout(timer);
    resolve();
  };
  const giveUp = () => {
    waiting.splice(waiting.indexOf(begin), 1);
    const text = 'too many requests of the workspace are waiting: try again later';
    reject(new WeirError('LIMITED', text, { cause: { retryAfter: 10 } }));
  };
  const timer = patience === undefined ? undefined : setTimeout(giveUp, Math.max(0, patience));
  waiting.push(begin);
  return promise;
}

/** Gives up the turn of a piece of work while it waits. */
export type Aside = <T>(wait: () => Promise<T>) => Promise<T>;

/** Runs up to `most` at a time, one per name. Names take turns: a slow name delays only itself, up to `most` of them. */
export function inTurns(most: number) {
  const [ofName, waiting] = [oneByOne(), [] as (() => void)[]];
  let running = 0;
  const take = async (): Promise<void> => {
    if (running === most) await new Promise<void>((begin) => waiting.push(begin));
    else running += 1;
  };
  const give = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const aside: Aside = async (wait) => {
    give();
    try {
      return await wait();
    } finally {
      await take();
    }
  };
  return <T>(work: (aside: Aside) => Promise<T>, name: string): Promise<T> =>
    ofName(async () => {
      await take();
      try {
        return await work(aside);
      } finally {
        give();
      }
    }, name);
}

/** Runs one piece of work per name; callers in the meantime share its result. */
export function shared<T>(running = new Map<string, Promise<T>>()) {
  return (work: () => Promise<T>, name = ''): Promise<T> => {
    const known = running.get(name);
    if (known !== undefined) return known;
    const result = work().finally(() => running.delete(name));
    running.set(name, result);
    return result;
  };
}

/**
 * Turns a function of many keys into one of a single key. Keys that arrive during `atOnce` calls share the next call, up to `most`. A
 * failed call fails for all its keys.
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
