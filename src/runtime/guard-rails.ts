/** Guard rails of the service (SPEC D7.1). */
import { networkInterfaces } from 'node:os';
import { protectedWord, type ServiceGuardRails } from '../account/guard-rails.ts';
import type { Config } from '../settings/settings.ts';

type Settings = Pick<Config, 'protectedNetworks' | 'minPrefixV4' | 'minPrefixV6' | 'trustProxy'>;

/** `self`: current interface addresses and proxy networks. */
export function serviceGuardRails({ protectedNetworks, minPrefixV4, minPrefixV6, trustProxy }: Settings): ServiceGuardRails {
  const addresses = Object.values(networkInterfaces()).flatMap((interfaces = []) => interfaces.map(({ address }) => address));
  const self = [...addresses, ...trustProxy].map(protectedWord).filter((word) => word !== undefined);
  return { protect: protectedNetworks, minPrefixV4, minPrefixV6, self: [...new Set(self)] };
}

export const GUARD_RAILS_OFF =
  'guard rails are off: any network can be blocked, including private and special ones and 0.0.0.0/0; set PROTECTED_NETWORKS, MIN_PREFIX_V4 and MIN_PREFIX_V6 to enable them';
