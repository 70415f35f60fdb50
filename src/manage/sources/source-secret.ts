/** SPEC D23.6. */
import { openSecret, type SecretKeys, type SecretOwner, sealSecret } from '../../account/secrets/encrypted-secret.ts';
import type { Credential } from '../../account/source.ts';
import { WeirError } from '../../errors.ts';
import { fieldFault } from '../operation.ts';

/** `secret`: `user:password`, a token, or a header's value. */
export interface GivenSecret {
  readonly auth?: Credential['kind'] | null | undefined;
  readonly authHeader?: string | null | undefined;
  readonly secret?: string | null | undefined;
}

/** As stored. */
interface StoredSecret {
  readonly credential: Credential | null;
  readonly secret: Uint8Array | null;
}

/** Not replaceable. */
const OWN_HEADERS = /^(host|connection|content-.*|transfer-encoding|accept.*|te|upgrade|expect|if-.*|range|user-agent|proxy-.*)$/i;
const LONGEST = 4096;

/** Both null: no secret. */
type Read = { readonly credential: Credential; readonly secret: string } | { readonly credential: null; readonly secret: null };

/** undefined: nothing given. Rejects with USAGE. */
function readSecret({ auth, authHeader, secret }: GivenSecret): Read | undefined {
  if (auth === undefined && authHeader == null && secret == null) return undefined;
  if (auth === null || auth === undefined) {
    if (secret == null && authHeader == null) return { credential: null, secret: null };
    throw fieldFault('auth', 'is missing: it says how the secret is sent');
  }
  if (secret == null) throw fieldFault('secret', 'is missing: give it with every change of auth or auth_header');
  const fault = secretFault(auth, secret);
  if (fault !== undefined) throw fieldFault('secret', fault);
  const credential = auth === 'header' ? { kind: auth, name: headerName(authHeader) } : { kind: auth };
  if (auth !== 'header' && authHeader != null) throw fieldFault('auth_header', 'requires auth "header"');
  return { credential, secret };
}

/** undefined: nothing given. Rejects with USAGE, and with REFUSED without an encryption key. */
export function encryptedSourceSecret(keys: SecretKeys, owner: SecretOwner, given: GivenSecret): StoredSecret | undefined {
  const read = readSecret(given);
  if (read === undefined || read.credential === null) return read;
  if (keys.length === 0)
    throw new WeirError(
      'REFUSED',
      'secrets of sources are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY',
    );
  return { credential: read.credential, secret: sealSecret(keys, owner, read.secret) };
}

type Headers = Readonly<Record<string, string>>;

/** undefined: nothing given. Rejects with USAGE. */
export function givenHeaders(given: GivenSecret): Headers | undefined {
  const read = readSecret(given);
  return read && (read.credential === null ? {} : headersOf(read.credential, read.secret));
}

/** undefined if the secret is missing or cannot be decrypted. */
export function credentialHeaders(
  keys: SecretKeys,
  { source, secret }: { readonly source: SecretOwner & { readonly credential: Credential | null }; readonly secret: Uint8Array | null },
): Headers | undefined {
  const { credential } = source;
  if (credential === null) return {};
  const text = secret === null ? undefined : openSecret(keys, source, secret);
  return text === undefined ? undefined : headersOf(credential, text);
}

function headersOf(credential: Credential, text: string): Headers {
  if (credential.kind === 'header') return { [credential.name]: text };
  return { authorization: credential.kind === 'bearer' ? `Bearer ${text}` : `Basic ${Buffer.from(text).toString('base64')}` };
}

function secretFault(auth: Credential['kind'], secret: string): string | undefined {
  if (secret === '' || secret.length > LONGEST) return `must have 1 to ${LONGEST} characters`;
  if (auth === 'basic') return /^[^:\p{Cc}]+:\P{Cc}*$/u.test(secret) ? undefined : 'must be user:password, without control characters';
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(secret) ? undefined : 'must have visible ASCII characters only';
}

function headerName(name: string | null | undefined): string {
  if (name == null || !/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw fieldFault('auth_header', 'must be the name of a header');
  if (OWN_HEADERS.test(name)) throw fieldFault('auth_header', 'must be another header: this one is set by weir');
  return name;
}
