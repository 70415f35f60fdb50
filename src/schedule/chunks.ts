/** Items in pieces of so many, the last one smaller. They are taken as the pieces are asked for: what makes them works in between. */
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

/** The same of what is read. What came before a failure comes before it. */
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
