/** Work that must not be done twice at once. */

const last = new Map<string, Promise<void>>();

/** Does work of a name when all that was asked for before under this name in this process has ended. */
export async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const done = (last.get(name) ?? Promise.resolve()).then(work);
  const ended = done.then(
    () => undefined,
    () => undefined,
  );
  last.set(name, ended);
  try {
    return await done;
  } finally {
    if (last.get(name) === ended) last.delete(name);
  }
}
