/** People from OpenID Connect providers, and roles of their groups (SPEC D24.3, D24.4). */
import { ROLE_NAMES, type RoleName } from './role.ts';

/** Stored only in the session. */
export interface Person {
  readonly provider: string;
  /** Permanent id at the provider. */
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
}

export const personId = ({ provider, subject }: Pick<Person, 'provider' | 'subject'>): string => `${provider}:${subject}`;

export interface GroupRole {
  readonly role: RoleName;
  readonly group: string;
  /** null: the group of any provider. */
  readonly provider: string | null;
}

/** From the service's settings: for workspaces by id or name; `*` for all. */
export interface ServiceRole extends GroupRole {
  readonly workspaces: readonly string[];
}

export interface Staffed {
  readonly id: string;
  readonly name: string;
  readonly people: readonly GroupRole[];
}

/** Limits: rows per workspace, characters of a group's name. */
export const MOST_GROUP_ROLES = 100;
export const LONGEST_GROUP = 256;

/** `operator@keycloak=soc` with a provider, `operator=soc` without. A group may contain any characters. */
const WRITTEN = /^(\w+)(?:@([a-z0-9-]{1,32}))?=(.+)$/s;

export function readGroupRole(text: string): GroupRole | undefined {
  const [, role, provider = null, group] = WRITTEN.exec(text) ?? [];
  const known = ROLE_NAMES.find((each) => each === role);
  return known === undefined || group === undefined || group.length > LONGEST_GROUP ? undefined : { role: known, group, provider };
}

export const writeGroupRole = ({ role, group, provider }: GroupRole): string =>
  `${role}${provider === null ? '' : `@${provider}`}=${group}`;

/** The highest role of a person's groups; null: none. */
export function roleIn(person: Pick<Person, 'provider' | 'groups'>, workspace: Staffed, service: readonly ServiceRole[]): RoleName | null {
  const isHere = ({ workspaces }: ServiceRole) =>
    workspaces.some((each) => each === '*' || each === workspace.id || each === workspace.name);
  const roles = [...workspace.people, ...service.filter(isHere)]
    .filter(({ provider, group }) => (provider === null || provider === person.provider) && person.groups.includes(group))
    .map(({ role }) => ROLE_NAMES.indexOf(role));
  return roles.length === 0 ? null : ROLE_NAMES[Math.max(...roles)]!;
}
