/** Sign-in with a provider: redirect, callback, session (SPEC D24.3, D24.7). */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parse } from 'node:querystring';
import type { IdentityProvider, Proof } from '../../ports/identity-provider.ts';
import { type Answer, jsonAnswer, NO_SNIFFING, PAGE_HEADERS } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Answered, Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import type { People } from './people.ts';
import type { Sessions } from './sessions.ts';

export const REASONS = ['away', 'denied', 'refused', 'stale', 'no_role', 'busy', 'store'] as const;
type Reason = (typeof REASONS)[number];

export interface SignInPages {
  begin(call: Call): Answered;
  finish(call: Call): Answered;
  logOut(asked: LogOut): Answered;
}

interface LogOut {
  readonly call: Call;
  readonly token: string;
}

/** Time limit, ms. */
const LONGEST = 600_000;
/** Concurrent callbacks: each asks a provider. */
const MOST_FINISHING = 32;
const SECRET = /^[\w-]{43}$/;

interface Parts {
  readonly people: People;
  readonly sessions: Pick<Sessions, 'openFor' | 'endFor'>;
  readonly gate: Gate;
  readonly now: () => number;
  readonly secure: boolean;
}

export function signInPages({ people, sessions, gate, now, secure }: Parts): SignInPages {
  const { baseUrl, report } = people;
  const cookie = secure ? '__Host-weir_sign_in' : 'weir_sign_in';
  const pattern = new RegExp(`(?:^|;\\s*)${cookie}=([\\w-]{43})(?:;|$)`);
  // `Lax`: the browser comes back from another site.
  const attributes = `; Max-Age=${LONGEST / 1000}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const secretOf = ({ request: { headers } }: Call) => pattern.exec(headers.cookie ?? '')?.[1];
  const find = (call: Call) => people.providers.find(({ id }) => id === call.params.provider);
  const backTo = ({ id }: IdentityProvider) => `${baseUrl.replace(/\/$/, '')}/console/sign-in/${id}/callback`;
  let finishing = 0;

  function failed(reason: Reason, provider: IdentityProvider, why?: string): Answer {
    if (why !== undefined) report(`${provider.id} ${reason}`, `a sign-in with ${provider.name} failed: ${why}`);
    return leadTo(`/console/?${new URLSearchParams({ sign_in: reason, provider: provider.id })}`);
  }

  return {
    async begin(call) {
      const provider = find(call);
      if (provider === undefined) return { status: 404 };
      // Tabs share the browser's secret. The state carries the rest: the server stores nothing.
      const secret = secretOf(call) ?? randomBytes(32).toString('base64url');
      const seed = `${now().toString(36)}-${randomBytes(16).toString('base64url')}`;
      const address = await provider.begin(proofOf(secret, provider.id, seed), backTo(provider));
      if (typeof address !== 'string') return failed(address.failed === 'denied' ? 'refused' : address.failed, provider, address.why);
      return leadTo(address, `${cookie}=${secret}${attributes}`);
    },
    async finish(call) {
      const provider = find(call);
      if (provider === undefined) return { status: 404 };
      const throttled = gate.throttled(call);
      if (throttled !== undefined) return throttled;
      const proof = proofIn(call, provider, secretOf(call), now());
      if (proof === undefined) {
        gate.refuse(call);
        return failed('stale', provider);
      }
      if (finishing >= MOST_FINISHING) return failed('busy', provider);
      finishing += 1;
      try {
        const outcome = await provider.finish(`${backTo(provider)}?${call.query}`, proof);
        if ('failed' in outcome) {
          gate.refuse(call);
          return failed(outcome.failed, provider, outcome.why);
        }
        const opened = await sessions.openFor(call, outcome).catch((error: unknown) => ({ storeError: String(error) }));
        if (typeof opened === 'object' && 'storeError' in opened) return failed('store', provider, opened.storeError);
        if (opened === undefined) return failed('no_role', provider, `no group of ${outcome.provider}:${outcome.subject} has a role`);
        return typeof opened === 'string' ? cameBack(opened) : opened;
      } finally {
        finishing -= 1;
      }
    },
    async logOut({ call, token }) {
      const provider = find(call);
      if (provider === undefined) return { status: 404 };
      const throttled = gate.throttled(call);
      if (throttled !== undefined) return throttled;
      const out = await provider.readLogout(token);
      if ('failed' in out && out.failed === 'away') return { status: 500 };
      const ended = 'failed' in out ? null : await sessions.endFor(provider.id, out);
      if ('failed' in out || ended === null) {
        gate.refuse(call);
        return NO_LOGOUT;
      }
      if (ended > 0) report(`${provider.id} logout`, `${provider.name} has signed ${out.subject ?? out.sid} out: ${ended} sessions`);
      return jsonAnswer(200, '{}', { 'Cache-Control': 'no-store' });
    },
  };
}

const NO_LOGOUT: HttpFault = badRequest([{ field: 'logout_token', message: 'must be a logout token of this provider', value: null }]);

const LOGOUT_BYTES = 16 * 1024;
export const LOG_OUT: BodyLimit = {
  bytes: LOGOUT_BYTES,
  tooLarge: badRequest([{ field: 'body', message: `must be at most ${LOGOUT_BYTES} bytes`, value: null }]),
};

export function readLogOut(call: Call, _caller: null, bytes: Buffer): LogOut | HttpFault {
  const { logout_token: token } = parse(bytes.toString(), '&', '=', { maxKeys: 10 });
  return typeof token === 'string' ? { call, token } : NO_LOGOUT;
}

/** Derived from the browser's secret and the seed, so only this browser can have started the sign-in. */
function proofOf(secret: string, provider: string, seed: string): Proof {
  const made = (what: string) => createHmac('sha256', secret).update(`${what} ${provider} ${seed}`).digest('base64url');
  return { state: `${seed}.${made('state')}`, nonce: made('nonce'), verifier: made('verifier') };
}

/** undefined: another browser started it, or it is too old. */
function proofIn({ query }: Call, { id }: IdentityProvider, secret: string | undefined, now: number): Proof | undefined {
  const { state } = parse(query, '&', '=', { maxKeys: 20 });
  if (secret === undefined || !SECRET.test(secret) || typeof state !== 'string' || state.length > 200) return undefined;
  const [seed = ''] = state.split('.');
  const proof = proofOf(secret, id, seed);
  const [own, given] = [Buffer.from(proof.state), Buffer.from(state)];
  if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
  const begun = Number.parseInt(seed.split('-')[0]!, 36);
  return begun <= now + 1000 && now - begun < LONGEST ? proof : undefined;
}

const QUIET = ['Cache-Control', 'no-store', ...PAGE_HEADERS, ...NO_SNIFFING];

const leadTo = (address: string, cookie?: string): Answer => ({
  status: 302,
  headers: ['Location', address, 'Content-Length', '0', ...QUIET, ...(cookie === undefined ? [] : ['Set-Cookie', cookie])],
  body: undefined,
});

const CAME_BACK = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/console/"><title>weir</title>';

/** A page that continues to the console: browsers send the strict session cookie only from our own site. */
const cameBack = (cookie: string): Answer => ({
  status: 200,
  headers: [
    ...['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(CAME_BACK.length), 'Set-Cookie', cookie],
    ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'", ...QUIET],
  ],
  body: CAME_BACK,
});
