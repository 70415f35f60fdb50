import { hash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../account/caller.ts';
import { within } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Group, HttpFault } from '../errors.ts';
import { CHALLENGES, readKey } from './credentials.ts';
import { failureLimiter } from './failures.ts';

/** What authentication looks at in a request. */
export interface Asker {
  readonly ip: string;
  readonly headers: { readonly authorization?: string };
}

export interface Authenticator {
  /**
   * Who asks, or why he is not let in (spec 5.1). Answers at once for a remembered key while the key revision was read less
   * than a second ago. Only a store that was read says 401; one that cannot be read honours remembered keys.
   */
  authenticate(group: Group, asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** The caller, where `authenticate` would let him in at once; undefined otherwise, and nothing is counted. */
  recognise(group: Group, authorization: string | undefined): Caller | undefined;
  /** The keys used since the last call, with the last instant of each. */
  takeUsed(): { id: string; at: number }[];
}

interface AuthenticatorOptions {
  readonly store: Pick<StoreReads, 'keyRevision' | 'findCaller'>;
  readonly now: () => number;
}

/** How long a key revision counts, and how long the store may take to answer, ms. */
const REVISION_FRESH = 1000;
const STORE_LIMIT = 1000;
/** How long a remembered key is honoured while the store cannot be read. */
const HONOURED = 24 * 3600 * 1000;

const FAILED: HttpFault = { status: 500 };

interface Remembered {
  readonly digest: Buffer;
  readonly caller: Caller;
  /** The key revision as it was before the caller was read: an equal one now means that nothing has changed. */
  readonly revision: number;
  /** When the store last vouched for it. */
  seenAt: number;
}

export function authenticator({ store, now }: AuthenticatorOptions): Authenticator {
  const remembered = new Map<string, Remembered>();
  const used = new Map<string, number>();
  const failures = failureLimiter();
  let revision: number | undefined;
  /** When the last finished look at the revision began, and whether the store could be read. */
  let checkedAt = Number.NEGATIVE_INFINITY;
  let readable = true;
  let looking: Promise<void> | undefined;

  const fresh = (at: number) => Math.abs(at - checkedAt) < REVISION_FRESH;
  /** Whether a remembered caller counts without asking the store: nothing has changed, or it cannot be asked. */
  const stands = (entry: Remembered) => entry.revision === revision || !readable;

  function authenticate(group: Group, asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault> {
    const digest = digestOf(group, asker.headers.authorization);
    if (digest === undefined) return refuse(group, asker);
    return recall(digest) ?? lookUp(digest, group, asker);
  }

  function recall(digest: string): Caller | undefined {
    const at = now();
    const entry = fresh(at) ? find(digest) : undefined;
    return entry !== undefined && stands(entry) && !lapsed(entry, at) && vouched(entry, at) ? admit(entry, at) : undefined;
  }

  async function lookUp(digest: string, group: Group, asker: Asker): Promise<Caller | HttpFault> {
    await refresh();
    const known = find(digest);
    if (known !== undefined && stands(known)) return judge(known, group, asker);
    if (!readable) return FAILED;
    const before = revision!;
    try {
      const bytes = Buffer.from(digest, 'latin1');
      const caller = await inTime(store.findCaller(bytes));
      if (!caller?.workspaceId || !caller.organizationId) {
        remembered.delete(slot(digest));
        return refuse(group, asker);
      }
      const entry = { digest: bytes, caller, revision: before, seenAt: now() };
      remembered.set(slot(digest), entry);
      return judge(entry, group, asker);
    } catch {
      return known === undefined ? FAILED : judge(known, group, asker);
    }
  }

  function judge(entry: Remembered, group: Group, asker: Asker): Caller | HttpFault {
    const at = now();
    if (lapsed(entry, at)) return refuse(group, asker);
    return vouched(entry, at) ? admit(entry, at) : FAILED;
  }

  const lapsed = ({ caller }: Remembered, at: number) => caller.expiresAt !== null && caller.expiresAt <= at;

  /** Whether the store vouches for the caller, or did within the time that remembered keys are honoured. */
  function vouched(entry: Remembered, at: number): boolean {
    if (readable && entry.revision === revision) entry.seenAt = at;
    return at - entry.seenAt <= HONOURED;
  }

  function admit({ caller }: Remembered, at: number): Caller {
    used.set(caller.keyId, at);
    return caller;
  }

  /** Reads the key revision if it is due. While the store is known to be down nobody waits for it. */
  async function refresh(): Promise<void> {
    if (fresh(now())) return;
    looking ??= look().finally(() => {
      looking = undefined;
    });
    if (readable) await looking;
  }

  async function look(): Promise<void> {
    const began = now();
    try {
      revision = await inTime(store.keyRevision());
      readable = true;
    } catch {
      readable = false;
    }
    checkedAt = began;
  }

  function find(digest: string): Remembered | undefined {
    const entry = remembered.get(slot(digest));
    return entry !== undefined && timingSafeEqual(entry.digest, Buffer.from(digest, 'latin1')) ? entry : undefined;
  }

  function refuse(group: Group, asker: Asker): HttpFault {
    if (failures.count(asker.ip, now())) {
      return { status: 429, message: 'Too many failed authentications', headers: { 'Retry-After': '1' } };
    }
    return { status: 401, headers: { 'WWW-Authenticate': CHALLENGES[group] } };
  }

  return {
    authenticate,
    recognise(group, authorization) {
      const digest = digestOf(group, authorization);
      return digest === undefined ? undefined : recall(digest);
    },
    takeUsed() {
      const taken = [...used].map(([id, at]) => ({ id, at }));
      used.clear();
      return taken;
    },
  };
}

/** SHA-256 of the key, what the store knows it by: a character each byte, the cheapest form to make. */
function digestOf(group: Group, authorization: string | undefined): string | undefined {
  const key = readKey(group, authorization);
  return key === undefined ? undefined : hash('sha256', key, 'binary');
}

/** Where a digest is remembered: by its first half. The whole is compared in constant time. */
const slot = (digest: string) => digest.slice(0, 16);

const inTime = <T>(answer: Promise<T>): Promise<T> => within(answer, STORE_LIMIT, 'the store');
