/** Reads a person's name and groups from a provider's claims. */
import { LONGEST_GROUP } from '../account/person.ts';
import type { ProviderSettings } from './settings.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Maximum groups of a person, and characters of a name. */
const MOST_GROUPS = 500;
const LONGEST_NAME = 100;

/** Not allowed in a name (SPEC D15.6). */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** If no claim has this name, it is a path such as `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, part) => (Object(value) as Claims)[part], claims);
}

/**
 * The fault in the claims of a token whose signature, issuer, audience and end the library has accepted, or undefined (SPEC D47.6, D47.7).
 * `latest`: the latest instant that is not in the future, s since 1970.
 */
export function claimsFault({ aud, azp, sub, iat, auth_time: signedInAt }: Claims, clientId: string, latest: number): string | undefined {
  if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId) return 'it is for another client (azp)';
  if (sub === '') return 'its sub is empty';
  return [iat, signedInAt].some((at) => typeof at === 'number' && at > latest) ? 'it was issued in the future' : undefined;
}

/** The groups of a person, texts or one text; undefined where the claim is missing. */
export function groupsIn(claims: Claims, { groups_claim: name = 'groups' }: Pick<ProviderSettings, 'groups_claim'>): string[] | undefined {
  const value = claimAt(claims, name);
  if (value === undefined) return undefined;
  const groups = [value]
    .flat()
    .filter((each) => typeof each === 'string' && each !== '' && each.length <= LONGEST_GROUP && each.isWellFormed());
  return [...new Set(groups as string[])].slice(0, MOST_GROUPS);
}

export function nameIn(claims: Claims, { name_claim: own }: Pick<ProviderSettings, 'name_claim'>): string | undefined {
  const names = (own === undefined ? ['name', 'preferred_username', 'email'] : [own]).map((name) => claimAt(claims, name));
  const name = names.find((each) => typeof each === 'string' && each.trim() !== '') as string | undefined;
  return name === undefined ? undefined : [...name.toWellFormed().replace(CONTROLS, ' ').trim()].slice(0, LONGEST_NAME).join('');
}
