/** The script that enrols a Linux host, and the exchange of its code for a key (SPEC D52). */
import { readFileSync } from 'node:fs';
import { CODE, codeHash } from '../../account/enrolment.ts';
import { makeKey } from '../../account/key.ts';
import { hasCode } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { type Answer, NO_SNIFFING } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import { rateLimiter } from '../auth/rate-limit.ts';
import type { Answered, Call } from '../call.ts';
import { networks } from '../source.ts';
import type { Origins } from './origin.ts';

export interface Enrolments {
  /** For any code of the right form. */
  script(call: Call): Answered;
  use(call: Call): Answered;
}

interface EnrolmentParts {
  readonly store: Pick<StoreReads, 'findEnrolment'> & Pick<StoreWrites, 'useEnrolment'>;
  readonly gate: Pick<Gate, 'refuse' | 'throttled'>;
  readonly origins: Origins;
  readonly now: () => number;
  readonly maxKeys: number;
}

const TEMPLATE = new URL('../../../integrations/enroll.sh', import.meta.url);
/** Codes of all addresses, per minute. */
export const MOST_TRIED = 6_000;

const UNSAFE =
  'A host enrols only over https, or on the machine of weir itself. Behind a proxy, set TRUST_PROXY and its X-Forwarded-Proto.';
const MALFORMED = 'This is not an enrolment code. Copy the complete line.';
const UNKNOWN = 'This code is unknown, used or expired, or it is for another host. Create a new one: weir device enroll NAME --feed FEED';
const BUSY = 'Too many codes were tried. Try again in a moment.';

const text = (status: number, body: string, more: readonly string[] = []): Answer => ({
  status,
  headers: [
    ...['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body)), 'Cache-Control', 'no-store'],
    ...NO_SNIFFING,
    ...more,
  ],
  body,
});
const refusal = (status: number, sentence: string, more?: readonly string[]) => text(status, `${sentence}\n`, more);

export function enrolments({ store, gate, origins, now, maxKeys }: EnrolmentParts): Enrolments {
  const tried = rateLimiter(MOST_TRIED);
  let template: string | undefined;

  /** The code and the address of this service. */
  function read(call: Call): { readonly code: string; readonly origin: string } | Answer {
    const origin = origins.isSafe(call.request, call.ip) ? origins.of(call.request) : undefined;
    if (origin === undefined) return refusal(403, UNSAFE);
    const code = call.params.code!;
    return CODE.test(code) ? { code, origin } : refusal(404, MALFORMED);
  }
  const isThrottled = (call: Call): boolean => gate.throttled(call) !== undefined || tried.take('', call.at.monotonic) > 0;
  function wrong(call: Call): Answer {
    return gate.refuse(call).status === 429 ? LIMITED : refusal(404, UNKNOWN);
  }

  return {
    script(call) {
      const given = read(call);
      if ('status' in given) return given;
      template ??= readFileSync(TEMPLATE, 'utf8');
      return text(200, template.replace("'@URL@'", `'${given.origin}'`).replace("'@CODE@'", `'${given.code}'`));
    },
    async use(call) {
      const given = read(call);
      if ('status' in given) return given;
      if (isThrottled(call)) return LIMITED;
      const hash = codeHash(given.code);
      // A wrong code costs no transaction.
      const known = await store.findEnrolment(hash, now());
      if (known === undefined || !isFrom(known.networks, call.ip)) return wrong(call);
      const { name, listId, feedId, keyExpiresAt: expiresAt } = known;
      const made = makeKey({ name, listId, feedId, permissions: ['feed:read'], expiresAt, networks: known.networks });
      if (typeof made === 'string') return refusal(409, made);
      try {
        const used = await store.useEnrolment(hash, made.key, { address: call.ip, mostKeys: maxKeys });
        return used === undefined ? wrong(call) : text(200, `WEIR_URL=${given.origin}\nWEIR_API_KEY=${made.text}\n`);
      } catch (error) {
        if (hasCode(error, 'REFUSED')) return refusal(409, (error as Error).message);
        throw error;
      }
    },
  };
}

const LIMITED = refusal(429, BUSY, ['Retry-After', '1']);

const isFrom = (from: readonly string[], ip: string): boolean => from.length === 0 || networks(from)(ip);
