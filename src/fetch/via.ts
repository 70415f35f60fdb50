/** Connections to checked addresses: direct, or through the operator's proxy by CONNECT. */
import type { lookup } from 'node:dns';
import { request } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { WeirError } from '../errors.ts';

export interface Via {
  readonly proxy?: URL | undefined;
  /** Hosts without proxy: names with all subdomains, addresses, `*`; each with an optional port. */
  readonly noProxy?: readonly string[];
  readonly lookup?: typeof lookup;
}

/** Returns undefined for a direct connection. */
export function proxyFor({ proxy, noProxy = [] }: Via, { hostname, port, protocol }: URL): URL | undefined {
  const isLeftOut = noProxy.some((each) => {
    const [, name, own] = /^(.*?)(?::(\d+))?$/.exec(each.toLowerCase())!;
    if (own !== undefined && own !== (port || DEFAULT_PORT[protocol])) return false;
    const suffix = name!.replace(/^\*?\./, '');
    return name === '*' || hostname === suffix || hostname.endsWith(`.${suffix}`);
  });
  return isLeftOut ? undefined : proxy;
}

const DEFAULT_PORT: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** A connection to the server of `url` through a proxy: plain, or TLS for https. Rejects with FETCH if the proxy refuses. */
export async function tunnel(proxy: URL, url: URL, ca: string | readonly string[] | undefined, signal: AbortSignal): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const place = `${url.hostname}:${url.port || DEFAULT_PORT[url.protocol]}`;
  const { username, password } = proxy;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { host: place, ...(username !== '' && { 'proxy-authorization': `Basic ${login}` }) };
  const plain = await new Promise<Socket>((resolve, reject) => {
    const asked = request({ host: proxy.hostname, port: proxy.port || 80, method: 'CONNECT', path: place, headers, agent: false, signal });
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new WeirError('FETCH', `the proxy answers ${statusCode}`));
    });
    // A response without a connection: the proxy refused CONNECT.
    asked.once('response', ({ statusCode }) => reject(new WeirError('FETCH', `the proxy answers ${statusCode}`)));
    asked.once('error', (error) => reject(new WeirError('FETCH', `the proxy does not answer: ${error.message}`)));
    asked.end();
  });
  if (url.protocol !== 'https:') return plain;
  return connect({ socket: plain, host, servername: isIP(host) === 0 ? host : '', ...(ca !== undefined && { ca: ca as string[] }) });
}
