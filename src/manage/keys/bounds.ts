/** A key cannot manage keys that exceed it (SPEC D15.12, D47.14, D47.15). All reject with FORBIDDEN. */
import { isWithin, type KeyInfo } from '../../account/key.ts';
import { allows, type Permission } from '../../account/permission.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { plural } from '../../text/count.ts';
import type { ChangeContext } from '../context.ts';

export function refuseMore({ permissions }: ChangeContext, wanted: readonly Permission[], what = 'key'): void {
  const more = permissions === null ? undefined : wanted.find((permission) => !allows(permissions, permission));
  if (more !== undefined) throw new WeirError('FORBIDDEN', `the ${what} would have the permission ${more}, which your own key lacks`);
}

/** In permissions, expiry or networks. */
export function refuseBeyond(
  context: ChangeContext,
  { permissions, expiresAt, networks = [] }: Partial<KeyInfo> & Pick<KeyInfo, 'permissions' | 'expiresAt'>,
): void {
  const { keyExpiresAt: end } = context;
  refuseMore(context, permissions);
  if (end !== null && (expiresAt === null || expiresAt > end))
    throw new WeirError('FORBIDDEN', `the key would outlive your own key, which expires at ${isoTime(end)}: give expires_in`);
  refuseElsewhere(context, networks);
}

export function refuseElsewhere({ keyNetworks }: ChangeContext, networks: readonly string[]): void {
  if (!isWithin(networks, keyNetworks))
    throw new WeirError(
      'FORBIDDEN',
      `the key would be valid from networks from which your own key is not: give networks within ${keyNetworks.join(', ')} as from`,
    );
}

/** Rejects with FORBIDDEN new roles of people by a key that is restricted to networks. */
export function refusePeopleElsewhere({ keyNetworks }: Pick<ChangeContext, 'keyNetworks'>, given: ReadonlySet<string>): void {
  if (given.size > 0 && keyNetworks.length > 0)
    throw new WeirError('FORBIDDEN', `the key is limited to ${keyNetworks.join(', ')} and people are not: it gives them no role`);
}

/** Before keys are revoked with another object. */
export async function requireRevocable(context: ChangeContext, keys: readonly { readonly id: string }[]): Promise<void> {
  if (keys.length === 0 || context.permissions === null) return;
  requireKeys(context, keys.length, 'would be revoked');
  const ids = new Set(keys.map(({ id }) => id));
  for (const key of await context.store.keys(context.workspaceId)) if (ids.has(key.id)) refuseMore(context, key.permissions);
}

/** Before keys are restored with another object. */
export async function requireRestorable(context: ChangeContext, id: string): Promise<void> {
  const keys = await context.store.keysDeletedWith(context.workspaceId, id);
  requireKeys(context, keys.length, 'would be valid again');
  for (const key of keys) refuseBeyond(context, key);
}

function requireKeys({ permissions }: ChangeContext, keys: number, what: string): void {
  if (keys > 0 && permissions !== null && !allows(permissions, 'keys:write'))
    throw new WeirError('FORBIDDEN', `${plural(keys, 'key')} ${what}: this needs the permission keys:write`);
}
