/** One request. A GET follows redirects. Addresses are checked before connecting. */
import { lookup as resolve } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { WeirError } from '../errors.ts';
import type { Reach } from './reach.ts';
import { proxyFor, tunnel, type Via } from './via.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Called before each request (also redirects, and pages of a collection) with its credential headers. Rejects with LIMITED if the server
 * must not be asked yet.
 */
export type Before = (url: URL, credentials: Readonly<Record<string, string>>) => Promise<void>;

export interface Exchange {
  readonly url: URL;
  /** Sent to every server, including redirect targets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to the origin of `url` only, not to redirect targets elsewhere. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly reach: Reach;
  /** CA certificates, PEM, instead of the system's. */
  readonly ca: string | readonly string[] | undefined;
  /** Opens one connection per request; undefined: Node's default, with environment proxies and connection reuse. */
  readonly via: Via | undefined;
  readonly signal: AbortSignal;
  readonly before?: Before | undefined;
  /** Body of a POST; its redirects are not followed. Absent: a GET. */
  readonly body?: string;
}

/** Returns the response after redirects, its body unread. Rejects with FETCH if an address is not allowed. */
export async function exchange(request: Exchange): Promise<IncomingMessage> {
  let at = request.url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const own = at.origin === request.url.origin ? request.credentials : {};
    await request.before?.(at, own);
    const response = await ask(at, own, request);
    const { location } = response.headers;
    if (request.body !== undefined || !REDIRECTS.includes(response.statusCode!) || location === undefined) return response;
    response.destroy();
    const next = URL.canParse(location, at.href) ? new URL(location, at) : undefined;
    if (next === undefined) throw new WeirError('FETCH', 'it redirects to an invalid address');
    const isAllowed = next.protocol === 'https:' || (next.protocol === 'http:' && at.protocol === 'http:');
    if (!isAllowed) throw new WeirError('FETCH', `it redirects from ${at.protocol}// to ${next.protocol}//`);
    at = next;
  }
  throw new WeirError('FETCH', `it redirects more than ${MOST_REDIRECTS} times`);
}

async function ask(
  url: URL,
  credentials: Exchange['credentials'],
  { headers, reach, ca, via, signal, body }: Exchange,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Node does not call the lookup hook for IP addresses in the URL.
  const fault = isIP(host) === 0 ? undefined : reach(host);
  if (fault !== undefined) throw new WeirError('FETCH', `${host} ${fault}`);
  const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...credentials },
    lookup: judged(reach, via?.lookup),
    signal,
    ...(ca !== undefined && { ca: ca as string[] }),
    ...(via !== undefined && (await connection(url, { reach, ca, via, signal }))),
  };
  const started = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
  // An error after the response belongs to the body.
  started.once('response', answered).on('error', reject).end(body);
  return promise;
}

/** Opens a checked connection, without reuse. */
async function connection(url: URL, { reach, ca, via, signal }: Pick<Exchange, 'reach' | 'ca' | 'signal'> & { readonly via: Via }) {
  const proxy = proxyFor(via, url);
  if (proxy === undefined) return { agent: false as const };
  // The proxy resolves the name itself, and may know names unknown here: only a forbidden address rejects.
  await new Promise<void>((resolved, reject) => {
    judged(reach, via.lookup)(url.hostname.replace(/^\[|\]$/g, ''), {}, (error) =>
      error instanceof WeirError ? reject(error) : resolved(),
    );
  });
  const socket = await tunnel(proxy, url, ca, signal);
  return { createConnection: () => socket };
}

/** Returns only allowed addresses, so the connection uses a checked address. */
function judged(reach: Reach, lookup = resolve): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const allowed = addresses.filter(({ address }) => reach(address) === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const [{ address }] = addresses;
        return done(new WeirError('FETCH', `${name} is ${address}, which ${reach(address)}`), '', 0);
      }
      return options.all === true ? done(null, allowed) : done(null, first.address, first.family);
    });
  };
}
