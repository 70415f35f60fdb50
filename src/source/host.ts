/** Canonical names of hosts and addresses (SPEC D43.2). */
import { formatAddress } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';

/** Default ports. */
const USUAL_PORTS = ['', '80', '443'];

/**
 * The canonical name of a host, without its port: without `www.` and final dots, and with an IPv4-mapped address as IPv4. The URL parser has
 * unified case, IDNs and the spellings of IPv4 addresses.
 */
export function hostName({ hostname }: URL): string {
  const name = hostname.replace(/\.+$/, '').replace(/^www\./, '');
  const address = parseNetwork(name.replace(/^\[|\]$/g, ''));
  return typeof address === 'string' ? name : formatAddress(address);
}

/** The name of a host with its port, unless that is a default one. */
export const hostOf = (url: URL): string => hostName(url) + (USUAL_PORTS.includes(url.port) ? '' : `:${url.port}`);

/** The name of an address. `isKnown`: the host sets an interval, and its addresses differ neither by query nor by spelling. */
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
