import type { Caller } from '../../account/caller.ts';
import type { Permission } from '../../account/permission.ts';
import type { Group, HttpFault } from '../errors.ts';
import type { Asker, Authenticator } from './authenticator.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Decides whether a request may enter a group of endpoints: the caller, or the fault to answer with. */
export interface Gate {
  /** Decides at once when the authenticator does, else with a promise. */
  admit(asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** Decides for a caller that is recognised from memory; undefined for any other request, which `admit` has to decide. */
  admitRecognised(authorization: string | undefined): Caller | HttpFault | undefined;
}

const PERMISSIONS: Record<Group, Permission> = {
  signal: 'signal:write',
  feed: 'feed:read',
  rules: 'rules:read',
  agent: 'config:read',
  bouncer: 'feed:read',
};

/**
 * The gate of a group. It checks in the order 401, 429, 402, 403 (spec 5). `monotonic`: ms of a clock that is never set; `onLimit` is
 * called for each request that the limiter refuses.
 */
export function gate(
  group: Group,
  authenticator: Authenticator,
  limiter: RateLimiter,
  monotonic: () => number,
  onLimit: () => void = () => {},
): Gate {
  function judge(answer: Caller | HttpFault): Caller | HttpFault {
    if ('status' in answer) return answer;
    const wait = limiter.take(answer.keyId, monotonic());
    if (wait > 0) {
      onLimit();
      return { status: 429, headers: { 'Retry-After': String(wait) } };
    }
    if (answer.subscription !== 'active') return { status: 402 };
    const permission = PERMISSIONS[group];
    return answer.permissions.includes(permission)
      ? answer
      : { status: 403, message: `The API key does not have the permission ${permission}` };
  }
  return {
    admit(asker) {
      const answer = authenticator.authenticate(group, asker);
      return answer instanceof Promise ? answer.then(judge) : judge(answer);
    },
    admitRecognised(authorization) {
      const caller = authenticator.recognise(group, authorization);
      return caller && judge(caller);
    },
  };
}
