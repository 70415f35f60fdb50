import type { Caller } from '../../account/caller.ts';
import { allows, type Permission } from '../../account/permission.ts';
import type { Instant } from '../../clock.ts';
import type { Group, HttpFault } from '../errors.ts';
import type { Asker, Authenticator } from './authenticator.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Decides whether a request may enter a group of endpoints: the caller, or the fault to answer with. */
export interface Gate {
  /** Decides at once when the authenticator does, else with a promise. */
  admit(asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** The same for who proves otherwise whose key he uses: `digest` is the SHA-256 of the key, latin1. */
  admitKey(digest: string, asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** The answer to a failed proof that is no key. */
  refuse(asker: Asker): HttpFault;
  /** Decides for a caller that is recognised from memory at `at`; undefined for any other request, which `admit` has to decide. */
  admitRecognised(authorization: string | undefined, connection: object, at: Instant): Caller | HttpFault | undefined;
}

/** null: each address of the group says what it needs. */
const PERMISSIONS: Record<Group, Permission | null> = {
  signal: 'signal:write',
  feed: 'feed:read',
  rules: 'rules:read',
  agent: 'config:read',
  bouncer: 'feed:read',
  manage: null,
};

/**
 * The gate of a group. It checks in the order 401, 429, 402, 403 (spec 5). `monotonic`: ms of a clock that is never set; `onLimit` is
 * called for each request that the limiter refuses, `onKey` for each that `admit` finds the key of.
 */
export function gate(
  group: Group,
  authenticator: Authenticator,
  limiter: RateLimiter,
  monotonic: () => number,
  onLimit: () => void = () => {},
  onKey: (asker: Asker, keyId: string) => void = () => {},
): Gate {
  function judgeAsker(asker: Asker, answer: Caller | HttpFault): Caller | HttpFault {
    if ('keyId' in answer) onKey(asker, answer.keyId);
    return judge(answer, monotonic());
  }
  function judge(answer: Caller | HttpFault, at: number): Caller | HttpFault {
    if ('status' in answer) return answer;
    const wait = limiter.take(answer.keyId, at);
    if (wait > 0) {
      onLimit();
      return { status: 429, headers: { 'Retry-After': String(wait) }, by: answer };
    }
    if (answer.subscription !== 'active') return { status: 402, by: answer };
    const permission = PERMISSIONS[group];
    return permission === null || allows(answer.permissions, permission) ? answer : { ...missing(permission), by: answer };
  }
  const judgeAnswer = (asker: Asker, answer: Caller | HttpFault | Promise<Caller | HttpFault>) =>
    answer instanceof Promise ? answer.then((found) => judgeAsker(asker, found)) : judgeAsker(asker, answer);

  return {
    admit: (asker) => judgeAnswer(asker, authenticator.authenticate(group, asker)),
    admitKey: (digest, asker) => judgeAnswer(asker, authenticator.authenticateKey(group, digest, asker)),
    refuse: (asker) => authenticator.refuse(group, asker),
    admitRecognised(authorization, connection, at) {
      const caller = authenticator.recognise(group, authorization, connection, at);
      return caller && judge(caller, at.monotonic);
    },
  };
}

/** The fault of a key without a permission. */
export const missing = (permission: Permission): HttpFault => ({
  status: 403,
  message: `The API key does not have the permission ${permission}`,
});
