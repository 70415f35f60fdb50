import { isIPv6 } from 'node:net';

/** Hosts that listen on every address, and what this machine connects to then. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The URL of a host and port. */
export const urlOf = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** The URL under which this machine reaches what listens on the host. */
export const localUrlOf = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  urlOf(WILDCARDS[host] ?? host, port, scheme);
