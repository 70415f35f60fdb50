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
import { bytesOf, type RememberedKey, rememberedKeys } from './remembered-keys.ts';
import { unknownKeys } from './unknown-keys.ts';

/** Who asks, as authentication notes it. */
export interface Asker {
  /** The address of the client. */
  readonly ip: string;
  readonly request?: IncomingMessage;
  /** What stands at the places of its path. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Tells who sends a request. */
export interface Authenticator {
  /**
   * The caller behind an Authorization header, or why the request is refused (spec 5.1). Answers at once, as of `at`, for a remembered
   * key while the key revision was read less than a second ago. Only a store that was read says 401; while it cannot be read, remembered
   * keys are honoured. A request without credentials is challenged, and never counted.
   */
  authenticate(
    group: Group,
    authorization: string | undefined,
    asker: Asker,
    at?: Instant,
  ): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** The same for who proves otherwise whose key he uses, such as by a session: `digest` is the SHA-256 of the key, latin1. */
  authenticateKey(group: Group, digest: string, asker: Asker, at?: Instant): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** Counts a failed proof that is no key, and says how it is answered. */
  refuse(group: Group, asker: Asker): HttpFault;
  /** The answer to a proof that is not looked at, because its address has shown too many wrong ones in this second. */
  tired(asker: Asker): HttpFault | undefined;
  /** The store's key revision as it was last read; undefined until it was. */
  keyRevision(): number | undefined;
  /** The keys used since the last call, with the last use of each in ms. */
  takeUsed(): { id: string; at: number }[];
  /** The wrong keys since the last call, by who sent them, most first. */
  takeFailed(): Failures[];
}

interface AuthenticatorOptions {
  readonly store: Pick<StoreReads, 'keyRevision' | 'findCaller'>;
  /** ms since 1970: for the expiry of keys and their last use. */
  readonly now: () => number;
  /** ms of the monotonic clock: for how long something is remembered. */
  readonly monotonic: () => number;
  /** Where wrong keys, and what is refused for them, are counted. */
  readonly counts?: Pick<HttpCounts, 'failedAuthentications' | 'limited'>;
  /** Is told of each request with a key that is not valid, by the SHA-256 of the key: a character for each byte. */
  readonly onInvalid?: (group: Group, asker: Asker, digest: string) => void;
}

/** How long the store may take to find a caller, ms. */
const STORE_LIMIT = 1000;
/** Keys that are looked up in the store at a time; further unknown ones get 429. */
const MOST_LOOK_UPS = 5000;
/** Unknown keys that are remembered as such. */
const MOST_UNKNOWN = 10_000;
/** How long a remembered key is honoured while the store cannot be read, ms. */
const HONOURED = 24 * 3600 * 1000;

const UNAVAILABLE: HttpFault = { status: 500 };
const TOO_MANY_LOOK_UPS: HttpFault = { status: 429, headers: { 'Retry-After': '1' } };
const TOO_MANY_FAILURES: HttpFault = { status: 429, message: 'Too many failed authentications', headers: { 'Retry-After': '1' } };

/** Authenticates API keys: from memory where it may, else from the store. Gathers when each key was last used. */
export function authenticator({ store, now, monotonic, counts = newHttpCounts(), onInvalid }: AuthenticatorOptions): Authenticator {
  const revision = watchKeyRevision(() => store.keyRevision(), monotonic);
  const keys = rememberedKeys();
  const unknown = unknownKeys(MOST_UNKNOWN);
  const lookingUp = new Map<string, Promise<Caller | undefined>>();
  const once = shared(lookingUp);
  const failures = failureLimiter();
  const used = new Map<string, number>();

  /** The caller with a key, where memory alone may admit it. */
  function recall(key: RememberedKey | undefined, { ip }: Asker, { wall, monotonic }: Instant): Caller | undefined {
    return key !== undefined &&
      (key.isGoodFrom === undefined || key.isGoodFrom(ip)) &&
      revision.isFresh(monotonic) &&
      isCurrent(key, revision) &&
      !hasExpired(key, wall) &&
      isHonoured(key, revision, monotonic)
      ? admit(key, wall)
      : undefined;
  }

  /** Whether memory alone tells that a key is unknown. */
  function isUnknown(digest: string): boolean {
    return revision.isFresh(monotonic()) && revision.readable && unknown.has(digest, revision.current!);
  }

  /** The caller as the store knows it; undefined when the key is not valid. */
  async function lookUp(digest: string, { ip }: Asker): Promise<Caller | HttpFault | undefined> {
    await revision.refresh();
    const known = keys.find(digest);
    if (known !== undefined && isCurrent(known, revision)) return decide(known, ip);
    if (!revision.readable) return UNAVAILABLE;
    const before = revision.current!;
    if (unknown.has(digest, before)) return undefined;
    // Who has seen another revision asks anew.
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

  /** What is known of a key; undefined where it is none, or none for this address. */
  function decide(key: RememberedKey, ip: string): Caller | HttpFault | undefined {
    const at = now();
    if (hasExpired(key, at) || key.isGoodFrom?.(ip) === false) return undefined;
    return isHonoured(key, revision, monotonic()) ? admit(key, at) : UNAVAILABLE;
  }

  function admit({ caller }: RememberedKey, at: number): Caller {
    used.set(caller.keyId, at);
    return caller;
  }

  /** The answer to wrong credentials. */
  function refuse(group: Group, asker: Asker, digest: string | undefined): HttpFault {
    if (digest !== undefined) onInvalid?.(group, asker, digest);
    counts.failedAuthentications += 1;
    if (!failures.count(asker.ip, monotonic())) return challenge(group);
    counts.limited.failed_authentications += 1;
    return TOO_MANY_FAILURES;
  }

  function authenticateKey(
    group: Group,
    digest: string,
    asker: Asker,
    at = instantOf({ now, monotonic }),
  ): Caller | HttpFault | Promise<Caller | HttpFault> {
    const known = recall(keys.find(digest), asker, at);
    if (known !== undefined) return known;
    return isUnknown(digest)
      ? refuse(group, asker, digest)
      : lookUp(digest, asker).then((answer) => answer ?? refuse(group, asker, digest));
  }

  return {
    authenticate(group, authorization = '', asker, at) {
      if (authorization === '') return challenge(group);
      const digest = digestOf(group, authorization);
      return digest === undefined ? refuse(group, asker, digest) : authenticateKey(group, digest, asker, at);
    },
    authenticateKey,
    refuse: (group, asker) => refuse(group, asker, undefined),
    tired({ ip }) {
      if (!failures.isUsedUp(ip, monotonic())) return undefined;
      counts.limited.failed_authentications += 1;
      return TOO_MANY_FAILURES;
    },
    keyRevision: () => revision.current,
    takeUsed() {
      const taken = [...used].map(([id, at]) => ({ id, at }));
      used.clear();
      return taken;
    },
    takeFailed: failures.take,
  };
}

/** Asks for credentials (SPEC D2.6). */
const challenge = (group: Group): HttpFault => ({ status: 401, headers: { 'WWW-Authenticate': GROUPS[group].challenges } });

/** SHA-256 of the key in an Authorization header, as `RememberedKeys` takes it; undefined when the header holds no key. */
function digestOf(group: Group, authorization: string | undefined): string | undefined {
  const key = readKey(group, authorization);
  return key === undefined ? undefined : hash('sha256', key, 'binary');
}

/** Whether a remembered key counts without asking the store: nothing has changed, or the store cannot be asked. */
const isCurrent = (key: RememberedKey, { current, readable }: KeyRevision): boolean => key.revision === current || !readable;

/** Whether the caller's key has expired at `at` (ms since 1970). */
const hasExpired = ({ caller }: RememberedKey, at: number): boolean => caller.expiresAt !== null && caller.expiresAt <= at;

/** Whether the store confirms the key at `at` (ms, monotonic), or did so within the last 24 h. Notes the moment when it does. */
function isHonoured(key: RememberedKey, { current, readable }: KeyRevision, at: number): boolean {
  if (readable && key.revision === current) key.confirmedAt = at;
  return at - key.confirmedAt <= HONOURED;
}
