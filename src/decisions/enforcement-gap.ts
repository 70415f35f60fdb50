/** As far as weir can tell (SPEC D14.13). */

import type { Bouncer } from '../ports/stored/bouncer-store.ts';
import { countText, plural } from '../text/count.ts';

export interface EnforcementGap {
  readonly kind: 'left_out' | 'texts' | 'mode';
  /** False if it depends on the bouncer's configuration. */
  readonly isCertain: boolean;
  /** A sentence without its subject, the bouncer. */
  readonly text: string;
}

/** Enforces only the first address of a network in one of its modes. */
const FIREWALL = /^crowdsec-firewall-bouncer\b/;
/** In stream mode, compares addresses with decisions as strings. */
const TEXTS = /traefik/i;
/** Without a stream fetch for this long, a client that still sends requests is in look-up mode, ms. */
const LEFT_STREAM = 3_600_000;

type Seen = Pick<Bouncer, 'userAgent' | 'networks' | 'leftOutNetworks' | 'leftOutAddresses' | 'lastPull' | 'lastStream'>;

/** undefined: it should enforce everything. */
export function gapOf(bouncer: Seen): EnforcementGap | undefined {
  const { userAgent, networks, leftOutNetworks, leftOutAddresses } = bouncer;
  if (leftOutNetworks > 0) {
    const what = `${plural(leftOutNetworks, 'network')} with ${countText(leftOutAddresses)} addresses`;
    return {
      kind: 'left_out',
      isCertain: true,
      text: `does not get ${what}: they are wider than the single_addresses of its feed allows`,
    };
  }
  if (networks === 0 || !pullsStream(bouncer)) return undefined;
  if (TEXTS.test(userAgent)) {
    const remedy = 'use its live mode, or set single_addresses of the list or feed';
    return {
      kind: 'texts',
      isCertain: true,
      text: `gets ${plural(networks, 'network')} on the stream and enforces none of them: ${remedy}`,
    };
  }
  if (!FIREWALL.test(userAgent)) return undefined;
  const text = `gets ${plural(networks, 'network')}: its ipset mode enforces them; in nftables mode (weir cannot detect the mode), set single_addresses of the list or feed, or only the first address of each is blocked`;
  return { kind: 'mode', isCertain: false, text };
}

const pullsStream = ({ lastPull, lastStream }: Seen): boolean => lastStream !== null && lastStream > lastPull - LEFT_STREAM;
