import { isIPv6 } from 'node:net';

/** Wildcard hosts, and how this machine reaches them. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export const urlOf = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;

export const localUrlOf = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  urlOf(WILDCARDS[host] ?? host, port, scheme);
