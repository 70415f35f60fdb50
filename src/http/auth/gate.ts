import type { Caller } from '../../account/caller.ts';
import type { Permission } from '../../account/permission.ts';
import type { Instant } from '../../clock.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { Group } from '../groups.ts';
import type { Authenticator, Client } from './authenticator.ts';
import { credentialsIn } from './credentials.ts';
import type { RateLimiter } from './rate-limit.ts';

type Verdict = Caller | HttpFault;

/** The caller or a fault, synchronously where possible. */
export interface Gate {
  /** `authorization`: default from the request. */
  admit(call: Call, authorization?: string): Verdict | Promise<Verdict>;
  /** For callers with another proof. `digest`: SHA-256 of the key, latin1. */
  admitKey(digest: string, call: Call): Verdict | Promise<Verdict>;
  admitCaller(caller: Caller, call: Call): Verdict;
  /** Why a request admitted earlier would be refused now; undefined: it would not. Does not count as a request. */
  readmit(call: Call): Promise<HttpFault | undefined>;
  refuse(call: Call): HttpFault;
  /** After too many wrong ones from its address. */
  throttled(call: Call): HttpFault | undefined;
}

/**
 * 401, 429, 402 in this order (spec 5); each address checks 403. `onLimit` runs for each rate-limited request, `onKey` for each with a
 * valid key.
 */
export function gate(
  group: Group,
  authenticator: Authenticator,
  limiter: RateLimiter,
  onLimit: () => void = () => {},
  onKey: (client: Client, caller: Caller) => void = () => {},
): Gate {
  function judge(client: Client, answer: Verdict, { monotonic }: Instant): Verdict {
    if ('status' in answer) return answer;
    onKey(client, answer);
    const wait = limiter.take(answer.keyId, monotonic);
    if (wait > 0) {
      onLimit();
      return { status: 429, headers: { 'Retry-After': String(wait) }, by: answer };
    }
    return subscribed(answer);
  }
  const judged = (call: Call, answer: Verdict | Promise<Verdict>) =>
    answer instanceof Promise ? answer.then((found) => judge(call, found, call.at)) : judge(call, answer, call.at);

  return {
    admit: (call, authorization = credentialsIn(group, call.request.headers)) =>
      judged(call, authenticator.authenticate(group, authorization, call, call.at)),
    admitKey: (digest, call) => judged(call, authenticator.authenticateKey(group, digest, call, call.at)),
    async readmit(call) {
      const found = await authenticator.authenticate(group, credentialsIn(group, call.request.headers), call);
      const answer = 'status' in found ? found : subscribed(found);
      return 'status' in answer ? answer : undefined;
    },
    admitCaller: (caller, call) => judge(call, caller, call.at),
    refuse: (call) => authenticator.refuse(group, call),
    throttled: (call) => authenticator.throttled(call),
  };
}

const subscribed = (caller: Caller): Verdict => (caller.subscription === 'active' ? caller : { status: 402, by: caller });

export const missing = (permission: Permission): HttpFault => ({
  status: 403,
  message: `The API key does not have the permission ${permission}`,
});
