import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../account/caller.ts';
import { type Instant, instantOf, within } from '../../clock.ts';
import type { Failures, HttpCounts } from '../../ports/http-counts.ts';
import type { StoreReads } from '../../ports/store.ts';
import { shared } from '../../serial.ts';
import { newHttpCounts } from '../counts.ts';
import type { HttpFault } from '../errors.ts';
import { GROUPS, type Group } from '../groups.ts';
import { readKey } from './credentials.ts';
import { failureLimiter } from './failures.ts';
import { type KeyRevision, watchKeyRevision } from './key-revision.ts';
import { bytesOf, type RememberedKey, rememberedKeys, unknownKeys } from './remembered-keys.ts';

export interface Client {
  readonly ip: string;
  readonly request?: IncomingMessage;
  readonly params?: Readonly<Record<string, string>>;
}

export interface Authenticator {
  /**
   * The caller of an Authorization header, or the refusal (spec 5.1). Answers synchronously, as of `at`, for a cached key if the key
   * revision was read in the last second. 401 always comes from the store: if it is down, cached keys stay valid. A request without
   * credentials is challenged and not counted.
   */
  authenticate(
    group: Group,
    authorization: string | undefined,
    client: Client,
    at?: Instant,
  ): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** For callers with another proof, such as a session. `digest`: SHA-256 of the key, latin1. */
  authenticateKey(group: Group, digest: string, client: Client, at?: Instant): Caller | HttpFault | Promise<Caller | HttpFault>;
  refuse(group: Group, client: Client): HttpFault;
  /** Refuses unchecked if the address sent too many wrong ones in this second. */
  throttled(client: Client): HttpFault | undefined;
  /** undefined until the first read. */
  keyRevision(): number | undefined;
  /** Since the last call, with the last use of each, ms. */
  takeUsed(): { id: string; at: number }[];
  /** Since the last call, by source, most first. */
  takeFailed(): Failures[];
}

interface AuthenticatorOptions {
  readonly store: Pick<StoreReads, 'keyRevision' | 'findCaller'>;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly counts?: Pick<HttpCounts, 'failedAuthentications' | 'limited'>;
  /** `digest`: SHA-256 of the key, latin1. */
  readonly onInvalid?: (group: Group, client: Client, digest: string) => void;
}

/** ms. */
const STORE_LIMIT = 1000;
/** Further unknown keys get 429. */
const MOST_LOOK_UPS = 5000;
const MOST_UNKNOWN = 10_000;
/** Validity of a cached key while the store is down, ms. */
const HONOURED = 24 * 3600 * 1000;

const UNAVAILABLE: HttpFault = { status: 500 };
const TOO_MANY_LOOK_UPS: HttpFault = { status: 429, headers: { 'Retry-After': '1' } };
const TOO_MANY_FAILURES: HttpFault = { status: 429, message: 'Too many failed authentications', headers: { 'Retry-After': '1' } };

export function authenticator({ store, now, monotonic, counts = newHttpCounts(), onInvalid }: AuthenticatorOptions): Authenticator {
  const revision = watchKeyRevision(() => store.keyRevision(), monotonic);
  const keys = rememberedKeys();
  const unknown = unknownKeys(MOST_UNKNOWN);
  const lookingUp = new Map<string, Promise<Caller | undefined>>();
  const once = shared(lookingUp);
  const failures = failureLimiter();
  const used = new Map<string, number>();

  /** If memory alone may admit it. */
  function recall(key: RememberedKey | undefined, { ip }: Client, { wall, monotonic }: Instant): Caller | undefined {
    return key !== undefined &&
      (key.isGoodFrom === undefined || key.isGoodFrom(ip)) &&
      revision.isFresh(monotonic) &&
      isCurrent(key, revision) &&
      !hasExpired(key, wall) &&
      isHonoured(key, revision, monotonic)
      ? admit(key, wall)
      : undefined;
  }

  function isUnknown(digest: string): boolean {
    return revision.isFresh(monotonic()) && revision.readable && unknown.has(digest, revision.current!);
  }

  async function lookUp(digest: string, { ip }: Client): Promise<Caller | HttpFault | undefined> {
    await revision.refresh();
    const known = keys.find(digest);
    if (known !== undefined && isCurrent(known, revision)) return decide(known, ip);
    if (!revision.readable) return UNAVAILABLE;
    const before = revision.current!;
    if (unknown.has(digest, before)) return undefined;
    // A caller with another revision starts a look-up of its own.
    const name = `${before} ${digest}`;
    if (known === undefined && !lookingUp.has(name) && lookingUp.size >= MOST_LOOK_UPS) {
      counts.limited.key_look_ups += 1;
      return TOO_MANY_LOOK_UPS;
    }
    try {
      const found = once(() => store.findCaller(bytesOf(digest)), name);
      const caller = await within(found, STORE_LIMIT, 'the store');
      if (caller?.workspaceId && caller.organizationId) {
        return decide(keys.remember(digest, { caller, revision: before, confirmedAt: monotonic() }), ip);
      }
      keys.forget(digest);
      if (known === undefined && before === revision.current) unknown.add(digest, before);
      return undefined;
    } catch {
      return known === undefined ? UNAVAILABLE : decide(known, ip);
    }
  }

  function decide(key: RememberedKey, ip: string): Caller | HttpFault | undefined {
    const at = now();
    if (hasExpired(key, at) || key.isGoodFrom?.(ip) === false) return undefined;
    return isHonoured(key, revision, monotonic()) ? admit(key, at) : UNAVAILABLE;
  }

  function admit({ caller }: RememberedKey, at: number): Caller {
    used.set(caller.keyId, at);
    return caller;
  }

  function refuse(group: Group, client: Client, digest: string | undefined): HttpFault {
    if (digest !== undefined) onInvalid?.(group, client, digest);
    counts.failedAuthentications += 1;
    if (!failures.count(client.ip, monotonic())) return challenge(group);
    counts.limited.failed_authentications += 1;
    return TOO_MANY_FAILURES;
  }

  function authenticateKey(
    group: Group,
    digest: string,
    client: Client,
    at = instantOf({ now, monotonic }),
  ): Caller | HttpFault | Promise<Caller | HttpFault> {
    const known = recall(keys.find(digest), client, at);
    if (known !== undefined) return known;
    return isUnknown(digest)
      ? refuse(group, client, digest)
      : lookUp(digest, client).then((answer) => answer ?? refuse(group, client, digest));
  }

  return {
    authenticate(group, authorization = '', client, at) {
      if (authorization === '') return challenge(group);
      const digest = digestOf(group, authorization);
      return digest === undefined ? refuse(group, client, digest) : authenticateKey(group, digest, client, at);
    },
    authenticateKey,
    refuse: (group, client) => refuse(group, client, undefined),
    throttled({ ip }) {
      if (!failures.isUsedUp(ip, monotonic())) return undefined;
      counts.limited.failed_authentications += 1;
      return TOO_MANY_FAILURES;
    },
    keyRevision: () => revision.current,
    takeUsed() {
      const recent = [...used].map(([id, at]) => ({ id, at }));
      used.clear();
      return recent;
    },
    takeFailed: failures.take,
  };
}

/** SPEC D2.6. */
const challenge = (group: Group): HttpFault => ({ status: 401, headers: { 'WWW-Authenticate': GROUPS[group].challenges } });

/** SHA-256 of the key in the form of `RememberedKeys`; undefined without a key. */
function digestOf(group: Group, authorization: string | undefined): string | undefined {
  const key = readKey(group, authorization);
  return key === undefined ? undefined : hash('sha256', key, 'binary');
}

const isCurrent = (key: RememberedKey, { current, readable }: KeyRevision): boolean => key.revision === current || !readable;

const hasExpired = ({ caller }: RememberedKey, at: number): boolean => caller.expiresAt !== null && caller.expiresAt <= at;

/** At `at` (ms, monotonic), or in the last 24 h. Updates the confirmation time. */
function isHonoured(key: RememberedKey, { current, readable }: KeyRevision, at: number): boolean {
  if (readable && key.revision === current) key.confirmedAt = at;
  return at - key.confirmedAt <= HONOURED;
}
