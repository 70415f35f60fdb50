/** Canonical names of hosts and addresses (SPEC D43.2). */
import { formatAddress } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';

const USUAL_PORTS = ['', '80', '443'];

/** Without port, `www.` and final dots; IPv4-mapped addresses become IPv4. The URL parser has normalized case, IDNs and IPv4 spellings. */
export function hostName({ hostname }: URL): string {
  const name = hostname.replace(/\.+$/, '').replace(/^www\./, '');
  const address = parseNetwork(name.replace(/^\[|\]$/g, ''));
  return typeof address === 'string' ? name : formatAddress(address);
}

export const hostOf = (url: URL): string => hostName(url) + (USUAL_PORTS.includes(url.port) ? '' : `:${url.port}`);

/** The canonical name of an address. `isKnown`: the catalogue has the host, and its queries and spellings are irrelevant. */
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
