/** What a bouncer cannot enforce of its feed, as far as can be told from here (SPEC D14.10). */
import type { Bouncer } from '../ports/bouncer-store.ts';

export interface EnforcementGap {
  readonly kind: 'left_out' | 'networks';
  /** A sentence about the bouncer without its subject. */
  readonly text: string;
}

/** The client that enforces only the first address of a network in one of its modes. */
const FIREWALL = /^crowdsec-firewall-bouncer\b/;

type Seen = Pick<Bouncer, 'userAgent' | 'networks' | 'leftOutNetworks' | 'leftOutAddresses'>;

/** What it cannot enforce; undefined when it should enforce everything. */
export function gapOf({ userAgent, networks, leftOutNetworks, leftOutAddresses }: Seen): EnforcementGap | undefined {
  if (leftOutNetworks > 0) {
    const what = `${leftOutNetworks} networks with ${leftOutAddresses} addresses`;
    return { kind: 'left_out', text: `does not get ${what}: they are wider than the single_addresses of its feed allows` };
  }
  if (networks === 0 || !FIREWALL.test(userAgent)) return undefined;
  const remedy = 'use its ipset mode, or set single_addresses of the list or feed';
  return { kind: 'networks', text: `gets ${networks} networks; in nftables mode it enforces only the first address of each: ${remedy}` };
}
