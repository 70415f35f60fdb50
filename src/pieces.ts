/** Items in pieces of so many, the last one smaller. They are taken as the pieces are asked for: what makes them works in between. */
export function* inPieces<T>(items: Iterable<T>, most: number): Generator<T[]> {
  let piece: T[] = [];
  for (const item of items) {
    piece.push(item);
    if (piece.length < most) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
