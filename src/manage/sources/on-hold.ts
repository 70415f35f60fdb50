/** The content of a refresh that is held back, kept as it was fetched, so that who accepts it gets what he has seen (SPEC D23.17). */
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { pack, unpack } from '../imports/pack.ts';

/** Bytes of a piece. */
const PIECE = 1 << 20;

/** Keeps the content of a replacement that is compared. Rejects with REFUSED where that was given up. */
export async function keepContent(
  store: Pick<StoreWrites, 'keepReplacementPiece'>,
  id: string,
  content: AsyncIterable<Buffer>,
  now: () => number,
): Promise<void> {
  let [n, pieces, size] = [0, [] as Buffer[], 0];
  const keep = async () => {
    if (!(await store.keepReplacementPiece(id, 'part', n, await pack(Buffer.concat(pieces)), now())))
      throw new WeirError('REFUSED', 'it took too long to keep what is held');
    [n, pieces, size] = [n + 1, [], 0];
  };
  for await (const piece of content) {
    pieces.push(piece);
    size += piece.length;
    if (size >= PIECE) await keep();
  }
  // Also of an empty content something is there.
  if (size > 0 || n === 0) await keep();
}

/** The content again. Rejects with REFUSED where it is there no more. */
export async function* contentOnHold(store: Pick<StoreReads, 'replacementPiece'>, id: string): AsyncGenerator<Buffer> {
  for (let n = 0; ; n += 1) {
    const body = await store.replacementPiece(id, 'part', n);
    if (body === undefined && n === 0) throw new WeirError('REFUSED', 'what was held is not kept any more: it is fetched again');
    if (body === undefined) return;
    const bytes = await unpack(body);
    // In pieces as from a file: between two of them others get on.
    for (let at = 0; at < bytes.length; at += PIECE / 64) yield bytes.subarray(at, at + PIECE / 64);
  }
}
