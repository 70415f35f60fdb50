/** Special-purpose networks, as text. */

/**
 * Private use, one machine or one link: RFC 1918 (private), RFC 6598 (shared by a carrier and its customers), RFC 1122 (loopback), RFC 3927
 * and RFC 4291 (link-local, loopback), RFC 4193 (unique local).
 */
export const PRIVATE_USE: readonly string[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/**
 * Not globally reachable by the IANA special-purpose address registries (RFC 6890), state of October 2025:
 * https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry.
 */
export const NOT_GLOBALLY_REACHABLE: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
];

/**
 * Networks inside these, listed by the registries as globally reachable or, for Teredo, without a statement. Reachable networks elsewhere
 * are not listed. IPv4-mapped addresses are IPv4 here.
 */
export const REACHABLE_EXCEPTIONS: readonly string[] = [
  '192.0.0.9/32',
  '192.0.0.10/32',
  '2001::/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
];
