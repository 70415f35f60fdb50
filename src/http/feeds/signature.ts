import { createHash, type KeyObject } from 'node:crypto';
import type { SecretKeys } from '../../account/secrets/encrypted-secret.ts';
import { openSigningKey, sshSignature } from '../../account/secrets/signature.ts';
import { nameOf } from '../../feed/document.ts';
import { lastModifiedOf, type Representation } from '../../feed/serve/representation.ts';
import type { NamedFeed } from '../../feed/serve/resolution.ts';
import type { HttpFault } from '../errors.ts';
import { type Conditions, evaluate } from './conditional.ts';
import { type DocumentAnswer, signatureHeaders } from './headers.ts';
import { PRECONDITION_FAILED } from './refusals.ts';

/** `sha256`: hexadecimal, of the identity body. */
interface SignRequest {
  readonly query: { readonly workspaceId: string };
  readonly headers: Conditions;
  readonly sha256: string;
}

export type Sign = (found: Representation, named: NamedFeed, asked: SignRequest) => DocumentAnswer | HttpFault;

/** Statements end on the hour: replicas sign equal bytes; s. */
const HOUR = 3600;

interface Signed {
  readonly statement: string;
  readonly secret: Uint8Array;
  readonly body: string;
  readonly etag: string;
}

/** Signs statements about feeds (SPEC D63). `now` in ms. */
export function feedSigner(secretKeys: SecretKeys, now: () => number): Sign {
  const known = new WeakMap<Representation, Signed>();
  return (found, named, { query: { workspaceId }, headers, sha256 }) => {
    const secret = named.signingSecret;
    if (secret === null) return { status: 404, message: 'The workspace has no signing key' };
    const statement = statementOf(found, named, { workspaceId, sha256, now: now() });
    const before = known.get(found);
    const isSame = before?.statement === statement && Buffer.compare(before.secret, secret) === 0;
    const signed = isSame ? before : signedBy(keyOf(workspaceId, secret), { statement, secret });
    known.set(found, signed);
    // Only the tag is proof: the statement changes without the feed.
    const conditions = { ...headers, 'if-modified-since': undefined, 'if-unmodified-since': undefined };
    const status = evaluate(conditions, { etag: signed.etag, lastModified: 0 }, now);
    if (status === 412) return PRECONDITION_FAILED;
    const own = signatureHeaders(found, signed.etag);
    if (status === 304) return { status, headers: own, body: undefined };
    return {
      status,
      headers: [...own, 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(signed.body.length)],
      body: signed.body,
    };
  };

  function keyOf(workspaceId: string, secret: Uint8Array): KeyObject {
    const key = openSigningKey(secretKeys, workspaceId, secret);
    if (key === undefined) throw new Error(`no key of SECRETS_KEY opens the signing key of workspace ${workspaceId}`);
    return key;
  }
}

function signedBy(key: KeyObject, { statement, secret }: Pick<Signed, 'statement' | 'secret'>): Signed {
  const body = statement + sshSignature(key, statement);
  return { statement, secret, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

function statementOf(
  found: Representation,
  { feedId, name }: NamedFeed,
  { workspaceId, sha256, now }: { readonly workspaceId: string; readonly sha256: string; readonly now: number },
): string {
  const { format, family, action } = nameOf(found.variant);
  const fields = {
    workspace: workspaceId,
    feed: feedId ?? 'workspace',
    name,
    format,
    family,
    action,
    entries: found.facts.entryCount,
    sha256,
    etag: found.etags.identity,
    'last-modified': lastModifiedOf(found),
    'not-after': (Math.floor(now / 1000 / HOUR) + 2) * HOUR,
  };
  return `weir feed 1\n${Object.entries(fields)
    .map(([field, value]) => `${field}: ${value}\n`)
    .join('')}`;
}
