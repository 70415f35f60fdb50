/** Work that several ask for at once: one piece after the other, one for all who ask, or many in one call. */
import { WeirError } from './errors.ts';

/**
 * Begins each piece of work when the one before of the same name has ended, however that ended. With `wait` it may begin before that: it is
 * given the end of the one before.
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

/** Does so many pieces of work of a name at a time, in the order in which they were asked for. Work that cannot begin within `patience` (ms) is rejected with LIMITED. */
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
    const text = 'too many requests of the workspace wait for their turn: try again later';
    reject(new WeirError('LIMITED', text, { cause: { retryAfter: 10 } }));
  };
  const timer = patience === undefined ? undefined : setTimeout(giveUp, Math.max(0, patience));
  waiting.push(begin);
  return promise;
}

/** Lets others have the turn of a piece of work while it waits for something. */
export type Aside = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Does so many pieces of work at a time in all, and one of a name. The names take turns, so that a name with much or slow work delays itself
 * alone, as long as there are not as many of those.
 */
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

/** Does one piece of work of a name at a time: who asks while it is done gets its result. `running` is what is being done, by name. */
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
