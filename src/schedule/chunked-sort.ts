/** Items sorted or merged per chunk: 1 to 2 ms. */
const CHUNK = 2000;

/** A stable sort in chunks; `pause` yields in between. */
export async function chunkedSort<T>(items: readonly T[], compare: (a: T, b: T) => number, pause: () => Promise<void>): Promise<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += CHUNK) {
    runs.push(items.slice(at, at + CHUNK).sort(compare));
    await pause();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await mergeInChunks(runs[at]!, runs[at + 1] ?? [], compare, pause));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeInChunks<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<void>,
): Promise<T[]> {
  const merged: T[] = [];
  let [i, k] = [0, 0];
  while (i < left.length && k < right.length) {
    merged.push(compare(left[i]!, right[k]!) <= 0 ? left[i++]! : right[k++]!);
    if (merged.length % CHUNK === 0) await pause();
  }
  for (; i < left.length; i += 1) merged.push(left[i]!);
  for (; k < right.length; k += 1) merged.push(right[k]!);
  return merged;
}
