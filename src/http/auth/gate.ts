import type { Caller } from '../../account/caller.ts';
import type { Permission } from '../../account/permission.ts';
import type { Group, HttpFault } from '../errors.ts';
import type { Asker, Authenticator } from './authenticator.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Lets a request into a group of endpoints, or says why not. */
export interface Gate {
  /** Answers at once whenever the authenticator does. */
  admit(asker: Asker): Caller | HttpFault | Promise<Caller | HttpFault>;
  /** The same for a caller who is recognised at once; undefined for anybody else, who is to ask `admit`. */
  admitRecognised(authorization: string | undefined): Caller | HttpFault | undefined;
}

const PERMISSIONS: Record<Group, Permission> = { signal: 'signal:write', feed: 'feed:read' };

/** The gate of a group, in the order 401, 429, 402, 403 (spec 5). */
export function gate(group: Group, authenticator: Authenticator, limiter: RateLimiter, now: () => number): Gate {
  function judge(answer: Caller | HttpFault): Caller | HttpFault {
    if ('status' in answer) return answer;
    const wait = limiter.take(answer.keyId, now());
    if (wait > 0) return { status: 429, headers: { 'Retry-After': String(wait) } };
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
