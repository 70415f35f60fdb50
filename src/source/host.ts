/** Hosts and their addresses by one name each, however they are written (SPEC D43.2). */
import { formatAddress } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';

/** Ports that say nothing of a host that its scheme does not say. */
const USUAL_PORTS = ['', '80', '443'];

/**
 * The name of a host, without its port: `www.`, final dots and IPv4 written as IPv6 make no other host. Case, IDNs, and the other spellings
 * of an IPv4 address are one in any URL.
 */
export function hostName({ hostname }: URL): string {
  const name = hostname.replace(/\.+$/, '').replace(/^www\./, '');
  const address = parseNetwork(name.replace(/^\[|\]$/g, ''));
  return typeof address === 'string' ? name : formatAddress(address);
}

/** What is asked once at a time: the host, with a port that is not the usual one. */
export const hostOf = (url: URL): string => hostName(url) + (USUAL_PORTS.includes(url.port) ? '' : `:${url.port}`);

/** What an address is for its host. `isKnown`: the host sets an interval, where another query or spelling is no other address. */
export function placeOf(url: URL, isKnown: boolean): string {
  const { pathname, search } = url;
  if (!isKnown) return hostOf(url) + pathname + search;
  return `${hostName(url)}/${decoded(pathname).toLowerCase().split(/\/+/).filter(Boolean).join('/')}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
