import { createHash, type KeyObject } from 'node:crypto';
import type { SecretKeys } from '../../account/secrets/encrypted-secret.ts';
import { openSigningKey, sshSignature } from '../../account/secrets/signature.ts';
import { versionText } from '../../decisions/decisions.ts';
import type { SharedAnswer } from '../../decisions/serve/shared-answers.ts';
import { nameOf } from '../../feed/document.ts';
import { digestOf } from '../../feed/serve/digest.ts';
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

/** Signs statements (SPEC D63). */
export interface Signer {
  feed(found: Representation, named: NamedFeed, asked: SignRequest): DocumentAnswer | HttpFault;
  /** The statement about an answer to a bouncer with its signature (SPEC D63.6). */
  stream(found: SharedAnswer, named: NamedFeed, workspaceId: string): Promise<string | HttpFault>;
}

/** Statements end on the hour: replicas sign equal bytes; s. */
const HOUR = 3600;
/** A client orders answers of several processes by it; s. */
const MINUTE = 60;

interface Signed {
  readonly statement: string;
  readonly secret: Uint8Array;
  readonly text: string;
}

export const NO_SIGNING_KEY: HttpFault = { status: 404, message: 'The workspace has no signing key' };

/** `now` in ms. */
export function signer(secretKeys: SecretKeys, now: () => number): Signer {
  const known = new WeakMap<object, Signed>();
  return {
    feed(found, named, { query: { workspaceId }, headers, sha256 }) {
      const text = signed(found, named, workspaceId, 'feed', feedFields(found, sha256));
      if (typeof text !== 'string') return text;
      const body = Buffer.from(text);
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
      // Only the tag is proof: the statement changes without the feed.
      const conditions = { ...headers, 'if-modified-since': undefined, 'if-unmodified-since': undefined };
      const status = evaluate(conditions, { etag, lastModified: 0 }, now);
      if (status === 412) return PRECONDITION_FAILED;
      const own = signatureHeaders(found, etag);
      if (status === 304) return { status, headers: own, body: undefined };
      return { status, headers: [...own, 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(body.length)], body };
    },
    async stream(found, named, workspaceId) {
      const sha256 = named.signingSecret === null ? '' : await digestOf(found.bytes, 'sha256');
      return signed(found, named, workspaceId, 'stream', {
        ...streamFields(found, sha256),
        time: Math.floor(now() / 1000 / MINUTE) * MINUTE,
      });
    },
  };

  function signed(of: object, { feedId, name, signingSecret: secret }: NamedFeed, workspaceId: string, kind: string, own: Fields) {
    if (secret === null) return NO_SIGNING_KEY;
    const about = { workspace: workspaceId, feed: feedId ?? 'workspace', name };
    const fields = { ...about, ...own, 'not-after': (Math.floor(now() / 1000 / HOUR) + 2) * HOUR };
    const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
    const statement = `weir ${kind} 1\n${lines.join('')}`;
    const before = known.get(of);
    if (before?.statement === statement && Buffer.compare(before.secret, secret) === 0) return before.text;
    const text = statement + sshSignature(keyOf(workspaceId, secret), statement);
    known.set(of, { statement, secret, text });
    return text;
  }

  function keyOf(workspaceId: string, secret: Uint8Array): KeyObject {
    const key = openSigningKey(secretKeys, workspaceId, secret);
    if (key === undefined) throw new Error(`no key of SECRETS_KEY opens the signing key of workspace ${workspaceId}`);
    return key;
  }
}

type Fields = Readonly<Record<string, string | number>>;

function feedFields(found: Representation, sha256: string): Fields {
  const { format, family, action } = nameOf(found.variant);
  const { entryCount: entries } = found.facts;
  return { format, family, action, entries, sha256, etag: found.etags.identity, 'last-modified': lastModifiedOf(found) };
}

function streamFields({ mark, since, check }: SharedAnswer, sha256: string): Fields {
  const { count, digest } = check!;
  return { version: versionText(mark), since: since === null ? 'none' : versionText(since), count, digest, sha256 };
}
