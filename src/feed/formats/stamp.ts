import { createHash } from 'node:crypto';

/** A part of a body, up to byte offset `to`. Boundaries depend only on the body. */
export interface BodyPart {
  readonly to: number;
  /** Parts of a variant with equal names have equal bytes. undefined: not cached. */
  readonly name: string | undefined;
}

export interface DocumentText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Ascending; empty if the format has none. */
  readonly stampsAt: readonly number[];
  /** undefined: a single part. */
  readonly parts?: readonly BodyPart[];
}

export const PLACEHOLDER = '0000-00-00T00:00:00Z';

/** SHA-256 (hexadecimal) of everything except the Last-Modified. */
export function contentHash({ bytes, stampsAt }: DocumentText): string {
  const hash = createHash('sha256');
  let from = 0;
  for (const at of stampsAt) {
    hash.update(bytes.subarray(from, at));
    from = at + PLACEHOLDER.length;
  }
  return hash.update(bytes.subarray(from)).digest('hex');
}

/** Whole seconds since 1970. */
export function stampText({ bytes, stampsAt }: DocumentText, second: number): void {
  if (stampsAt.length === 0) return;
  const instant = Buffer.from(new Date(second * 1000).toISOString().replace('.000Z', 'Z'), 'latin1');
  for (const at of stampsAt) bytes.set(instant, at);
}
