/** Permissions, binding and expiry of an existing key cannot change. */
import { BOOTSTRAP_KEY_NAME, bindingFault, isWithin, type KeyInfo, makeKey } from '../../../account/key.ts';
import { allows, DEFAULT_PERMISSIONS, PERMISSIONS, type Permission } from '../../../account/permission.ts';
import { type RoleName, roleOf } from '../../../account/role.ts';
import { isoTime, readInstant } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { textField } from '../../../json/schema.ts';
import { fieldFault } from '../../operation.ts';
import { canonicalNetworks, KEY_FIELDS, permissionsGiven } from '../../operations/access/keys.ts';
import { type About, call, type Entry, fileKind, isSame, type Thing } from '../kind.ts';

/** Expanded and ordered, for comparison. */
const allAllowed = (granted: readonly Permission[]) => PERMISSIONS.filter((each) => allows(granted, each));

const isGood = ({ revokedAt, expiresAt, name }: KeyInfo, now: number) =>
  revokedAt === null && (expiresAt === null || expiresAt > now) && name !== BOOTSTRAP_KEY_NAME;

function endOf(text: unknown): number | null {
  if (text === undefined || text === null) return null;
  const at = readInstant(text);
  if (at === undefined) throw fieldFault('expires_at', 'must be an instant such as 2027-01-01T00:00:00Z');
  return at;
}

function newKey(given: Entry, { now, keyExpiresAt }: About): Entry {
  if (given.name === BOOTSTRAP_KEY_NAME)
    throw fieldFault('name', 'is reserved for the bootstrap key, which the settings of the service create');
  const { list = null, feed = null, from = [] } = given;
  const [listId, feedId] = [list, feed] as [string | null, string | null];
  const fallback: readonly Permission[] = feedId === null ? DEFAULT_PERMISSIONS : ['feed:read'];
  const { permissions = fallback } = permissionsGiven(given.permissions as Permission[] | undefined, given.role as RoleName | undefined);
  const fault = bindingFault({ permissions, listId, feedId });
  if (fault !== null) throw fieldFault('permissions', `cannot be: ${fault}`);
  const end = endOf(given.expires_at);
  if (end !== null && end <= now) throw fieldFault('expires_at', 'is in the past: remove the key from the file, or choose a later time');
  if (keyExpiresAt !== null && (end === null || end > keyExpiresAt))
    throw fieldFault('expires_at', `must be ${isoTime(keyExpiresAt)} at the latest, when your own key expires`);
  return { permissions: allAllowed(permissions), list, feed, from: canonicalNetworks(from as string[]), expires_at: isoTime(end) };
}

function sameKey(given: Entry, { entry }: Thing, prune: boolean): Entry {
  const { permissions } = permissionsGiven(given.permissions as Permission[] | undefined, given.role as RoleName | undefined);
  const requested: Entry = {
    ...(permissions !== undefined && { permissions: allAllowed(permissions) }),
    ...(given.list !== undefined && { list: given.list }),
    ...(given.feed !== undefined && { feed: given.feed }),
    ...(given.expires_at !== undefined && { expires_at: isoTime(endOf(given.expires_at)) }),
  };
  const other = Object.keys(requested).find((field) => !isSame(requested[field], entry[field]));
  if (other !== undefined) {
    const now = [entry[other] ?? 'none'].flat().join(', ');
    throw fieldFault(other, `is ${now} and cannot be changed: choose another name for a new key, or revoke this one first`);
  }
  const from = given.from === undefined ? (prune ? [] : entry.from) : canonicalNetworks(given.from as string[]);
  return { ...entry, from };
}

export const KEY_KIND = fileKind<KeyInfo>({
  section: 'keys',
  word: 'key',
  about: 'API keys by name. The text of a new key is returned once.',
  fields: { ...KEY_FIELDS, expires_at: textField(40, 'Expiry, an instant; absent: never.', { format: 'text' }) },
  refers: { list: 'list', feed: 'feed' },
  loss: 'key',
  things({ keys, lists, feeds }, { now, callerKeyId }) {
    const names = new Map([...lists, ...feeds].map(({ id, name }) => [id, name]));
    return keys
      .filter((key) => isGood(key, now))
      .map((key) => ({
        id: key.id,
        name: key.name,
        label: `${key.prefix}… (without a name)`,
        entry: {
          permissions: allAllowed(key.permissions),
          list: key.listId && (names.get(key.listId) ?? key.listId),
          feed: key.feedId && (names.get(key.feedId) ?? key.feedId),
          from: key.networks,
          expires_at: isoTime(key.expiresAt),
        },
        row: key,
        stays: key.id === callerKeyId,
      }));
  },
  wanted(given, before, about) {
    const entry = before === undefined ? newKey(given, about) : sameKey(given, before, about.prune);
    const isNew = before === undefined || !isSame(entry.from, before.entry.from);
    if (isNew && !isWithin(entry.from as string[], about.keyNetworks))
      throw fieldFault('from', `must be within ${about.keyNetworks.join(', ')}, the networks of your own key`);
    return entry;
  },
  core({ permissions, list, feed }) {
    const role = roleOf(permissions as Permission[]);
    return { ...(role === null ? { permissions } : { role }), ...(list !== null && { list }), ...(feed !== null && { feed }) };
  },
  add({ given, entry }, id, { workspaceId, by, most, listId, feedId, onKey }) {
    const name = String(given.name);
    const made = makeKey({
      name,
      permissions: entry.permissions as Permission[],
      listId: entry.list === null ? null : listId(String(entry.list)),
      feedId: entry.feed === null ? null : feedId(String(entry.feed)),
      networks: entry.from as string[],
      expiresAt: endOf(entry.expires_at),
    });
    if (typeof made === 'string') throw new WeirError('USAGE', made);
    onKey(name, id, made.text);
    return [call('createKey', workspaceId, made.key, { by, id, most: most.maxKeys })];
  },
  change: ({ id }, { entry }, { workspaceId, by }) => [call('updateKey', workspaceId, id, { networks: entry.from as string[] }, { by })],
  remove: ({ id }, { by }) => [call('revokeKey', id, { by })],
});
