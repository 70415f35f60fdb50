import type { Caller } from '../../account/caller.ts';
import type { Permission } from '../../account/permission.ts';
import type { Instant } from '../../clock.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { Group } from '../groups.ts';
import type { Asker, Authenticator } from './authenticator.ts';
import { shownIn } from './credentials.ts';
import type { RateLimiter } from './rate-limit.ts';

type Verdict = Caller | HttpFault;

/** Decides whether a request may enter a group of addresses: the caller, or the fault to answer with. It decides at once where it can. */
export interface Gate {
  /** `authorization`: as the request shows it when absent. */
  admit(call: Call, authorization?: string): Verdict | Promise<Verdict>;
  /** The same for who proves otherwise whose key he uses: `digest` is the SHA-256 of the key, latin1. */
  admitKey(digest: string, call: Call): Verdict | Promise<Verdict>;
  /** The same for somebody who is known without a key. */
  admitCaller(caller: Caller, call: Call): Verdict;
  /** The answer to a failed proof that is no key. */
  refuse(call: Call): HttpFault;
  /** The answer to such a proof that is not looked at: its address has shown too many wrong ones. */
  tired(call: Call): HttpFault | undefined;
}

/**
 * The gate of a group. It checks in the order 401, 429, 402 (spec 5); 403 is each address's to say. `onLimit` is called for each request
 * that the limiter refuses, `onKey` for each that it finds the key of.
 */
export function gate(
  group: Group,
  authenticator: Authenticator,
  limiter: RateLimiter,
  onLimit: () => void = () => {},
  onKey: (asker: Asker, keyId: string) => void = () => {},
): Gate {
  function judge(asker: Asker, answer: Verdict, { monotonic }: Instant): Verdict {
    if ('status' in answer) return answer;
    onKey(asker, answer.keyId);
    const wait = limiter.take(answer.keyId, monotonic);
    if (wait > 0) {
      onLimit();
      return { status: 429, headers: { 'Retry-After': String(wait) }, by: answer };
    }
    return answer.subscription === 'active' ? answer : { status: 402, by: answer };
  }
  const judged = (call: Call, answer: Verdict | Promise<Verdict>) =>
    answer instanceof Promise ? answer.then((found) => judge(call, found, call.at)) : judge(call, answer, call.at);

  return {
    admit: (call, authorization = shownIn(group, call.request.headers)) =>
      judged(call, authenticator.authenticate(group, authorization, call, call.at)),
    admitKey: (digest, call) => judged(call, authenticator.authenticateKey(group, digest, call, call.at)),
    admitCaller: (caller, call) => judge(call, caller, call.at),
    refuse: (call) => authenticator.refuse(group, call),
    tired: (call) => authenticator.tired(call),
  };
}

/** The fault of a key without a permission. */
export const missing = (permission: Permission): HttpFault => ({
  status: 403,
  message: `The API key does not have the permission ${permission}`,
});
