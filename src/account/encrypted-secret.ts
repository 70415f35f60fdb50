/** Secrets of sources as the store keeps them: AES-256-GCM with a key that the store does not have (SPEC D23.6). */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Keys of 32 bytes: the first seals, all of them open. */
export type SecretKeys = readonly Uint8Array[];

/** What a secret is for: it opens for no other source, and for no other origin. */
export interface SecretOwner {
  readonly id: string;
  readonly url: string;
}

const CIPHER = 'aes-256-gcm';
/** The form of what is sealed: this byte, a nonce, a tag, the text. */
const FORM = 1;
const [NONCE, TAG] = [12, 16];

const bindingOf = ({ id, url }: SecretOwner) => Buffer.from(`${id} ${new URL(url).origin}`);

/** The text, sealed by the first key. Throws where there is none. */
export function sealSecret([key]: SecretKeys, owner: SecretOwner, text: string): Uint8Array {
  if (key === undefined) throw new Error('there is no key to seal with');
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingOf(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Uint8Array.of(FORM), nonce, cipher.getAuthTag(), sealed]);
}

/** What was sealed; undefined where no key opens it, or it was sealed for another owner. */
export function openSecret(keys: SecretKeys, owner: SecretOwner, sealed: Uint8Array): string | undefined {
  if (sealed[0] !== FORM || sealed.length < 1 + NONCE + TAG) return undefined;
  const [nonce, tag, body] = [sealed.subarray(1, 1 + NONCE), sealed.subarray(1 + NONCE, 1 + NONCE + TAG), sealed.subarray(1 + NONCE + TAG)];
  for (const key of keys) {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG }).setAAD(bindingOf(owner)).setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch {
      // Another key may open it.
    }
  }
  return undefined;
}
