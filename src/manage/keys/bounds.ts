/** What a key may do with other keys: it makes, changes and brings back none that may do more than itself (SPEC D15.12, D47.14, D47.15). */
import { isWithin, type KeyInfo } from '../../account/key.ts';
import { allows, type Permission } from '../../account/permission.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { plural } from '../../text/count.ts';
import type { ChangeContext } from '../context.ts';

/** Rejects with FORBIDDEN what may do more than the caller. */
export function refuseMore({ permissions }: ChangeContext, wanted: readonly Permission[], what = 'key'): void {
  const more = permissions === null ? undefined : wanted.find((permission) => !allows(permissions, permission));
  if (more !== undefined) throw new WeirError('FORBIDDEN', `the ${what} could do more than the one that asks, which does not have ${more}`);
}

/** Rejects with FORBIDDEN a key that could do more than the caller, for longer, or from elsewhere. */
export function refuseBeyond(
  context: ChangeContext,
  { permissions, expiresAt, networks = [] }: Partial<KeyInfo> & Pick<KeyInfo, 'permissions' | 'expiresAt'>,
): void {
  const { keyExpiresAt: end } = context;
  refuseMore(context, permissions);
  if (end !== null && (expiresAt === null || expiresAt > end))
    throw new WeirError('FORBIDDEN', `the key would outlive the one that asks, which expires at ${isoTime(end)}: give expires_in`);
  refuseElsewhere(context, networks);
}

/** Rejects with FORBIDDEN networks from which the caller is not good. */
export function refuseElsewhere({ keyNetworks }: ChangeContext, networks: readonly string[]): void {
  if (!isWithin(networks, keyNetworks))
    throw new WeirError(
      'FORBIDDEN',
      `the key would be good from where the one that asks is not: give networks within ${keyNetworks.join(', ')} as from`,
    );
}

/** Rejects with FORBIDDEN roles that a key gives to people, who come from anywhere, where it is good from some networks only. */
export function refusePeopleElsewhere({ keyNetworks }: Pick<ChangeContext, 'keyNetworks'>, given: ReadonlySet<string>): void {
  if (given.size > 0 && keyNetworks.length > 0)
    throw new WeirError(
      'FORBIDDEN',
      `people come from anywhere, and the key is good from ${keyNetworks.join(', ')} only: it gives them no role`,
    );
}

/** Rejects with FORBIDDEN where these keys are revoked with something, and the caller may not revoke them. */
export async function requireRevocable(context: ChangeContext, keys: readonly { readonly id: string }[]): Promise<void> {
  if (keys.length === 0 || context.permissions === null) return;
  requireKeys(context, keys.length, 'would be revoked');
  const ids = new Set(keys.map(({ id }) => id));
  for (const key of await context.store.keys(context.workspaceId)) if (ids.has(key.id)) refuseMore(context, key.permissions);
}

/** Rejects with FORBIDDEN where the keys that come back with a deleted list or feed are none that the caller could make. */
export async function requireRestorable(context: ChangeContext, id: string): Promise<void> {
  const keys = await context.store.keysDeletedWith(context.workspaceId, id);
  requireKeys(context, keys.length, 'would be valid again');
  for (const key of keys) refuseBeyond(context, key);
}

function requireKeys({ permissions }: ChangeContext, keys: number, what: string): void {
  if (keys > 0 && permissions !== null && !allows(permissions, 'keys:write'))
    throw new WeirError('FORBIDDEN', `${plural(keys, 'key')} ${what}: that needs the permission keys:write`);
}
