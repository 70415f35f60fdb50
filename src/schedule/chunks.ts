/** Lazy: the source runs between chunks. */
export function* inChunks<T>(items: Iterable<T>, most: number): Generator<T[]> {
  let piece: T[] = [];
  for (const item of items) {
    piece.push(item);
    if (piece.length < most) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Yields all items before a failure. */
export async function* readInChunks<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T[]> {
  let piece: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      piece.push(item);
      if (piece.length < most) continue;
      yield piece;
      piece = [];
    }
  } catch (error) {
    failure = { error };
  }
  if (piece.length > 0) yield piece;
  if (failure !== undefined) throw failure.error;
}
