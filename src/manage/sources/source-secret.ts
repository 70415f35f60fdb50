/** Secrets of sources as somebody gives them (SPEC D23.6). */
import { openSecret, type SecretKeys, type SecretOwner, sealSecret } from '../../account/encrypted-secret.ts';
import type { Credential } from '../../account/source.ts';
import { WeirError } from '../../errors.ts';
import { fieldFault } from '../operation.ts';

/** As what something secret is sent, and what it is: `user:password`, a token, or the value of a header. What is undefined is not named. */
export interface GivenSecret {
  readonly auth?: Credential['kind'] | null | undefined;
  readonly authHeader?: string | null | undefined;
  readonly secret?: string | null | undefined;
}

/** What of a secret is kept. */
interface Kept {
  readonly credential: Credential | null;
  readonly secret: Uint8Array | null;
}

/** Headers that say how the request is made. */
const OWN_HEADERS = /^(host|connection|content-.*|transfer-encoding|accept.*|te|upgrade|expect|if-.*|range|user-agent|proxy-.*)$/i;
const LONGEST = 4096;

/** A secret and as what it is sent; both null: none. */
type Read = { readonly credential: Credential; readonly secret: string } | { readonly credential: null; readonly secret: null };

/** What somebody says of a secret; undefined: nothing. Rejects with USAGE for what is wrong with it. */
function readSecret({ auth, authHeader, secret }: GivenSecret): Read | undefined {
  if (auth === undefined && authHeader == null && secret == null) return undefined;
  if (auth === null || auth === undefined) {
    if (secret == null && authHeader == null) return { credential: null, secret: null };
    throw fieldFault('auth', 'is missing: it says as what the secret is sent');
  }
  if (secret == null) throw fieldFault('secret', 'is missing: it is given whenever anything about it changes');
  const fault = secretFault(auth, secret);
  if (fault !== undefined) throw fieldFault('secret', fault);
  const credential = auth === 'header' ? { kind: auth, name: headerName(authHeader) } : { kind: auth };
  if (auth !== 'header' && authHeader != null) throw fieldFault('auth_header', 'is for the auth header');
  return { credential, secret };
}

/**
 * What is kept of a secret; undefined: nothing is said of it. Rejects with USAGE for what is wrong with it, with REFUSED where the service has no
 * key to seal it with.
 */
export function keptSecret(keys: SecretKeys, owner: SecretOwner, given: GivenSecret): Kept | undefined {
  const read = readSecret(given);
  if (read === undefined || read.credential === null) return read;
  if (keys.length === 0)
    throw new WeirError(
      'REFUSED',
      'secrets of sources are kept encrypted, and there is no key for that: the operator of the service has to set SECRETS_KEY',
    );
  return { credential: read.credential, secret: sealSecret(keys, owner, read.secret) };
}

type Headers = Readonly<Record<string, string>>;

/** The headers of a secret that is not kept; undefined: nothing is said of one. Rejects with USAGE for what is wrong with it. */
export function givenHeaders(given: GivenSecret): Headers | undefined {
  const read = readSecret(given);
  return read && (read.credential === null ? {} : headersOf(read.credential, read.secret));
}

/** The headers that show who a source is; undefined where its secret is missing, or no key opens it. */
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
  if (OWN_HEADERS.test(name)) throw fieldFault('auth_header', 'must be another one: it says how the request is made');
  return name;
}
