/** People: who signs in with a provider of OpenID Connect, and what their groups let them do (SPEC D24.3, D24.4). */
import { ROLE_NAMES, type RoleName } from './role.ts';

/** Somebody as a provider tells of him. Nothing of this is kept but in his session. */
export interface Person {
  /** The provider's name in the settings. */
  readonly provider: string;
  /** Who it is at the provider, for good. */
  readonly subject: string;
  /** As people call him. */
  readonly name: string;
  readonly groups: readonly string[];
}

/** Names a person in the audit log and wherever else: the provider, and who it is there. */
export const personId = ({ provider, subject }: Pick<Person, 'provider' | 'subject'>): string => `${provider}:${subject}`;

/** What the members of a group may do in a workspace. */
export interface GroupRole {
  readonly role: RoleName;
  readonly group: string;
  /** The provider whose group it is; null: a group of that name of whichever. */
  readonly provider: string | null;
}

/** The same, as the settings of the service have it: for the workspaces of these ids or names, `*` stands for all. */
export interface ServiceRole extends GroupRole {
  readonly workspaces: readonly string[];
}

/** A workspace as far as it says who may what in it. */
export interface Staffed {
  readonly id: string;
  readonly name: string;
  readonly people: readonly GroupRole[];
}

/** Rows that one workspace may have, and characters of a group's name. */
export const MOST_GROUP_ROLES = 100;
export const LONGEST_GROUP = 256;

/** A row that names a provider as `operator@keycloak=soc`, one that does not as `operator=soc`. A group may have any characters. */
const WRITTEN = /^(\w+)(?:@([a-z0-9-]{1,32}))?=(.+)$/s;

/** A row from its text; undefined where it is none. */
export function readGroupRole(text: string): GroupRole | undefined {
  const [, role, provider = null, group] = WRITTEN.exec(text) ?? [];
  const known = ROLE_NAMES.find((each) => each === role);
  return known === undefined || group === undefined || group.length > LONGEST_GROUP ? undefined : { role: known, group, provider };
}

/** A row as text. */
export const writeGroupRole = ({ role, group, provider }: GroupRole): string =>
  `${role}${provider === null ? '' : `@${provider}`}=${group}`;

/** The role that a person has in a workspace, the highest of those that his groups give; null: he has none there. */
export function roleIn(person: Pick<Person, 'provider' | 'groups'>, workspace: Staffed, service: readonly ServiceRole[]): RoleName | null {
  const isHere = ({ workspaces }: ServiceRole) =>
    workspaces.some((each) => each === '*' || each === workspace.id || each === workspace.name);
  const roles = [...workspace.people, ...service.filter(isHere)]
    .filter(({ provider, group }) => (provider === null || provider === person.provider) && person.groups.includes(group))
    .map(({ role }) => ROLE_NAMES.indexOf(role));
  return roles.length === 0 ? null : ROLE_NAMES[Math.max(...roles)]!;
}
