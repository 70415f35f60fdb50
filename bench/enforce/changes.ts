/** The rules of the workspaces, and the changes in their order, which all threads know. */
import { seededRandom } from '../../test/support/random.ts';

export const WORKSPACES = 3;
/** Of each workspace. */
export const RULES = 40_000;

/** The n-th of a workspace's hosts, no two of all workspaces adjacent, in an order without pattern. */
export function host(tenant: number, n: number): string {
  const address = ((Math.imul(n + tenant * 200_000, 0x9e3779b1) >>> 10) << 2) + 0x0b00_0000;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

export interface Change {
  readonly tenant: number;
  readonly action: 'block' | 'unblock';
  readonly ip: string;
  /** `+` or `-` and the address. */
  readonly name: string;
}

/** The first blocks of new hosts and unblocks of old ones of random tenants. */
export function changes(count: number): Change[] {
  const random = seededRandom(39);
  const next = Array.from({ length: WORKSPACES }, () => ({ block: RULES, unblock: 0 }));
  return Array.from({ length: count }, () => {
    const tenant = random.below(WORKSPACES);
    const action = random.below(2) === 0 ? 'block' : 'unblock';
    const ip = host(tenant, next[tenant]![action]++);
    return { tenant, action, ip, name: `${action === 'block' ? '+' : '-'}${ip}` };
  });
}
