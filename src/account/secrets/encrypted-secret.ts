/** Stored secrets of sources and webhooks: AES-256-GCM with a key outside the store (SPEC D23.6). */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** 32 bytes each. The first encrypts, all decrypt. */
export type SecretKeys = readonly Uint8Array[];

/** A secret decrypts only for the same owner and origin. */
export interface SecretOwner {
  readonly id: string;
  readonly url: string;
}

const CIPHER = 'aes-256-gcm';
/** Version byte, followed by nonce, tag, ciphertext. */
const FORM = 1;
const [NONCE, TAG] = [12, 16];

const bindingOf = ({ id, url }: SecretOwner) => Buffer.from(`${id} ${new URL(url).origin}`);

/** Throws without a key. */
export function sealSecret([key]: SecretKeys, owner: SecretOwner, text: string): Uint8Array {
  if (key === undefined) throw new Error('there is no encryption key');
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bindingOf(owner));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Uint8Array.of(FORM), nonce, cipher.getAuthTag(), sealed]);
}

/** undefined: no key decrypts it, or it has another owner. */
export function openSecret(keys: SecretKeys, owner: SecretOwner, sealed: Uint8Array): string | undefined {
  if (sealed[0] !== FORM || sealed.length < 1 + NONCE + TAG) return undefined;
  const [nonce, tag, body] = [sealed.subarray(1, 1 + NONCE), sealed.subarray(1 + NONCE, 1 + NONCE + TAG), sealed.subarray(1 + NONCE + TAG)];
  for (const key of keys) {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG }).setAAD(bindingOf(owner)).setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch {}
  }
  return undefined;
}
