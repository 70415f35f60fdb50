/** OpenSSH signatures (PROTOCOL.sshsig) by the Ed25519 keys of a workspace (SPEC D63). */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { openSecret, type SecretKeys, sealSecret } from './encrypted-secret.ts';

/** While a new key reaches the verifiers, the old one signs. */
export const MOST_SIGNING_KEYS = 2;
export const SIGNER = 'weir';
export const NAMESPACE = 'weir-feed';

export interface SigningKey {
  readonly id: string;
  /** Base64 of OpenSSH's form. */
  readonly publicKey: string;
  /** ms since 1970. */
  readonly createdAt: number;
}

const TYPE = 'ssh-ed25519';
const HASH = 'sha512';

const text = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

const publicBlob = (key: KeyObject): Buffer =>
  Buffer.concat([text(TYPE), text(Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x!, 'base64url'))]);

/** The secret belongs to its workspace. */
const ownerOf = (workspaceId: string) => ({ id: workspaceId, url: 'weir:signing' });

/** Throws without an encryption key. */
export function newSigningKey(keys: SecretKeys, workspaceId: string): { readonly publicKey: string; readonly secret: Uint8Array } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  return { publicKey: publicBlob(privateKey).toString('base64'), secret: sealSecret(keys, ownerOf(workspaceId), secret) };
}

/** undefined: no encryption key opens the secret. */
export function openSigningKey(keys: SecretKeys, workspaceId: string, secret: Uint8Array): KeyObject | undefined {
  const opened = openSecret(keys, ownerOf(workspaceId), secret);
  return opened === undefined ? undefined : createPrivateKey({ key: Buffer.from(opened, 'base64'), format: 'der', type: 'pkcs8' });
}

/** A line of the file that `ssh-keygen -Y verify -f` reads. */
export const allowedSigner = ({ publicKey }: Pick<SigningKey, 'publicKey'>): string =>
  `${SIGNER} namespaces="${NAMESPACE}" ${TYPE} ${publicKey}`;

/** The armoured signature, with a line end. Equal for equal messages. */
export function sshSignature(key: KeyObject, message: string): string {
  const digest = createHash(HASH).update(message).digest();
  const [magic, about] = [Buffer.from('SSHSIG'), [text(NAMESPACE), text(''), text(HASH)]];
  const signature = sign(null, Buffer.concat([magic, ...about, text(digest)]), key);
  const version = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([magic, version, text(publicBlob(key)), ...about, text(Buffer.concat([text(TYPE), text(signature)]))]);
  const lines = blob.toString('base64').match(/.{1,70}/g)!;
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}
