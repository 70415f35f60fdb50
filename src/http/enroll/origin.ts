/** The address that clients know, and whether a request is protected from eavesdroppers (SPEC D52.4). */
import type { IncomingMessage } from 'node:http';
import { networks } from '../source.ts';

export interface Origins {
  /** Over https, or of this machine, without a final slash; undefined: neither, or with characters that a script cannot contain. */
  of(request: IncomingMessage): string | undefined;
  /** Whether the request came over https, or from this machine. `ip`: of the client. */
  isSafe(request: IncomingMessage, ip: string): boolean;
}

const HOST = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]{2,45}\]`;
/** Nothing that a shell or a file of settings reads as more than itself. */
const ORIGIN = new RegExp(String.raw`^(https?)://(${HOST})(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?$`);
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const isLoopback = networks(['127.0.0.0/8', '::1']);
/** Set by proxies. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

export function origins(baseUrl: string | undefined, trustProxy: readonly string[]): Origins {
  const isTrusted = networks(trustProxy);
  const isHttps = ({ socket, headers }: IncomingMessage) =>
    'encrypted' in socket || (isTrusted(socket.remoteAddress ?? '') && headers['x-forwarded-proto'] === 'https');
  return {
    of(request) {
      const address = baseUrl ?? `${isHttps(request) ? 'https' : 'http'}://${request.headers.host}`;
      const [, scheme, host] = ORIGIN.exec(address) ?? [];
      return scheme === 'https' || (scheme === 'http' && LOOPBACK_HOST.test(host!)) ? address : undefined;
    },
    isSafe(request, ip) {
      if (isHttps(request)) return true;
      const { socket, headers } = request;
      // A proxy on this machine passes requests of others.
      return isLoopback(socket.remoteAddress ?? '') && isLoopback(ip) && FORWARDED.every((name) => headers[name] === undefined);
    },
  };
}
