import { createHash } from 'node:crypto';

/** A body that is whole but for the instant at which its content first appeared. */
export interface FeedText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where that instant stands, a byte offset; undefined when the format shows none. */
  readonly stampAt: number | undefined;
}

/** Keeps the place of the instant until it is known. */
export const PLACEHOLDER = '0000-00-00T00:00:00Z';

/** Names the text whenever it appears: SHA-256, hexadecimal, of all but the instant. */
export function contentHash({ bytes, stampAt }: FeedText): string {
  const hash = createHash('sha256');
  if (stampAt === undefined) return hash.update(bytes).digest('hex');
  return hash
    .update(bytes.subarray(0, stampAt))
    .update(bytes.subarray(stampAt + PLACEHOLDER.length))
    .digest('hex');
}

/** Writes into the text when its content first appeared, whole seconds since 1970. */
export function stampFeed({ bytes, stampAt }: FeedText, second: number): void {
  if (stampAt === undefined) return;
  const instant = new Date(second * 1000).toISOString().replace('.000Z', 'Z');
  bytes.set(Buffer.from(instant, 'latin1'), stampAt);
}
