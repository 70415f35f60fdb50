/** OpenSSH signatures (PROTOCOL.sshsig) by the Ed25519 keys of a workspace (SPEC D63). */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
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
/** Lengths in Ed25519, bytes. */
const [KEY_LENGTH, SIGNATURE_LENGTH] = [32, 64];

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

export const SIGNATURE_BEGIN = '-----BEGIN SSH SIGNATURE-----';
const ABOUT = [text(NAMESPACE), text(''), text(HASH)];
const signedData = (message: string): Buffer =>
  Buffer.concat([Buffer.from('SSHSIG'), ...ABOUT, text(createHash(HASH).update(message).digest())]);
const signatureBlob = (publicKey: Uint8Array, signature: Uint8Array): Buffer => {
  const version = Buffer.from([0, 0, 0, 1]);
  const own = text(Buffer.concat([text(TYPE), text(signature)]));
  return Buffer.concat([Buffer.from('SSHSIG'), version, text(publicKey), ...ABOUT, own]);
};

/** The armoured signature, with a line end. Equal for equal messages. */
export function sshSignature(key: KeyObject, message: string): string {
  const lines = signatureBlob(publicBlob(key), sign(null, signedData(message), key))
    .toString('base64')
    .match(/.{1,70}/g)!;
  return [SIGNATURE_BEGIN, ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

/** The public key in a line of `allowedSigner`, `known_hosts` or the like, as `ssh-ed25519 BASE64`; undefined: there is none. */
export function readSigner(line: string): string | undefined {
  const blob = Buffer.from(/(?:^|\s)ssh-ed25519\s+([\w+/]+=*)(?:\s|$)/.exec(line)?.[1] ?? '', 'base64');
  const isKey = blob.equals(Buffer.concat([text(TYPE), text(blob.subarray(-KEY_LENGTH))]));
  return isKey ? `${TYPE} ${blob.toString('base64')}` : undefined;
}

/** Whether one of the signers (`readSigner`) has signed the message as `sshSignature` does. */
export function isSignedBy(signers: readonly string[], message: string, armoured: string): boolean {
  const blob = Buffer.from(armoured.replace(/-----\w+ SSH SIGNATURE-----/g, ''), 'base64');
  const signature = blob.subarray(-SIGNATURE_LENGTH);
  return signers.some((signer) => {
    const publicKey = Buffer.from(signer.slice(TYPE.length + 1), 'base64');
    if (!blob.equals(signatureBlob(publicKey, signature))) return false;
    const x = publicKey.subarray(-KEY_LENGTH).toString('base64url');
    return verify(null, signedData(message), createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature);
  });
}
