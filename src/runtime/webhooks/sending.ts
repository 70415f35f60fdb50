import { ownAddresses } from '../../fetch/content-file.ts';
import { post } from '../../fetch/post.ts';
import { ANYWHERE, sourceReach } from '../../fetch/reach.ts';
import type { Config } from '../../settings/settings.ts';
import type { SendPorts } from '../../webhook/send.ts';
import { authorities } from '../sources/fetching.ts';

/** Timeout of a receiver, ms. */
const LIMIT = 10_000;

export type SendSettings = Pick<Config, 'webhookNetworks' | 'nat64Prefixes' | 'sourceProxy' | 'noProxy' | 'sourceCaFile' | 'secretsKey'>;

/** Throws USAGE if a file of the settings is unreadable. */
export function sendPortsOf(settings: SendSettings, clock: Pick<SendPorts, 'now' | 'monotonic'>): SendPorts {
  const { webhookNetworks, nat64Prefixes, sourceProxy, noProxy, secretsKey } = settings;
  const via = { proxy: sourceProxy === undefined ? undefined : new URL(sourceProxy), noProxy };
  const ca = authorities(settings);
  return {
    ...clock,
    secretKeys: secretsKey,
    post: ({ isOperators, ...request }) =>
      post({
        ...request,
        reach: isOperators ? ANYWHERE : sourceReach(webhookNetworks, nat64Prefixes, ownAddresses()),
        via,
        ca,
        limit: LIMIT,
        now: clock.now,
      }),
  };
}
