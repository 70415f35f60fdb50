/** Stored as fetched: accepting applies what was reviewed (SPEC D23.17). */
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { pack, unpack } from '../imports/pack.ts';

/** Bytes per piece. */
const PIECE = 1 << 20;

/** Rejects with REFUSED if it was cancelled. */
export async function keepContent(
  store: Pick<StoreWrites, 'storeReplacementPiece'>,
  id: string,
  content: AsyncIterable<Buffer>,
  now: () => number,
): Promise<void> {
  let [n, pieces, size] = [0, [] as Buffer[], 0];
  const keep = async () => {
    if (!(await store.storeReplacementPiece(id, 'part', n, await pack(Buffer.concat(pieces)), now())))
      throw new WeirError('REFUSED', 'it took too long to store the version on hold');
    [n, pieces, size] = [n + 1, [], 0];
  };
  for await (const piece of content) {
    pieces.push(piece);
    size += piece.length;
    if (size >= PIECE) await keep();
  }
  // Even if it is empty.
  if (size > 0 || n === 0) await keep();
}

/** Rejects with REFUSED if it is no longer stored. */
export async function* contentOnHold(store: Pick<StoreReads, 'replacementPiece'>, id: string): AsyncGenerator<Buffer> {
  for (let n = 0; ; n += 1) {
    const body = await store.replacementPiece(id, 'part', n);
    if (body === undefined && n === 0) throw new WeirError('REFUSED', 'the version on hold is no longer stored: it will be fetched again');
    if (body === undefined) return;
    const bytes = await unpack(body);
    // Other work runs in between.
    for (let at = 0; at < bytes.length; at += PIECE / 64) yield bytes.subarray(at, at + PIECE / 64);
  }
}
