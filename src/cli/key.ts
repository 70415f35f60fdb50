import { createHash, randomBytes } from 'node:crypto';

/** A new API key: `weir_` and 43 URL-safe characters. Shown once; only its hash is stored. */
export function newKeyText(): string {
  return `weir_${randomBytes(32).toString('base64url')}`;
}

/** What the store keeps of a key text: its SHA-256 and a few first characters to recognise it by. */
export function keyParts(text: string): { hash: Uint8Array; prefix: string } {
  return { hash: createHash('sha256').update(text).digest(), prefix: text.slice(0, text.startsWith('weir_') ? 9 : 4) };
}
