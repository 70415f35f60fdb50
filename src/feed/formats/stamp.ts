import { createHash } from 'node:crypto';

/** A part of a body: its bytes up to `to`, from the end of the part before. Where parts end depends on the body alone. */
export interface BodyPart {
  readonly to: number;
  /** Names the bytes: in bodies of the same variant parts of one name are equal. undefined where nobody keeps them. */
  readonly name: string | undefined;
}

/** A body that is whole but for the instant at which its content first appeared. */
export interface DocumentText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where that instant stands, byte offsets from low to high; empty when the format shows none. */
  readonly stampsAt: readonly number[];
  /** What the bytes consist of; undefined for one part. */
  readonly parts?: readonly BodyPart[];
}

/** Keeps the place of the instant until it is known. */
export const PLACEHOLDER = '0000-00-00T00:00:00Z';

/** Names the text whenever it appears: SHA-256, hexadecimal, of all but the instant. */
export function contentHash({ bytes, stampsAt }: DocumentText): string {
  const hash = createHash('sha256');
  let from = 0;
  for (const at of stampsAt) {
    hash.update(bytes.subarray(from, at));
    from = at + PLACEHOLDER.length;
  }
  return hash.update(bytes.subarray(from)).digest('hex');
}

/** Writes into the text when its content first appeared, whole seconds since 1970. */
export function stampText({ bytes, stampsAt }: DocumentText, second: number): void {
  if (stampsAt.length === 0) return;
  const instant = Buffer.from(new Date(second * 1000).toISOString().replace('.000Z', 'Z'), 'latin1');
  for (const at of stampsAt) bytes.set(instant, at);
}
