/** Roles: what keys and people may do, in a word (SPEC D24.1). A role is the permissions that it names, and nothing of its own. */
import { allows, PERMISSIONS, type Permission } from './permission.ts';

/** From the one that may least to the one that may all. */
export const ROLE_NAMES = ['viewer', 'operator', 'admin'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

const VIEWER = ['feed:read', 'rules:read', 'config:read'] as const satisfies readonly Permission[];

/** What each role may. */
export const ROLES: Readonly<Record<RoleName, readonly Permission[]>> = {
  viewer: VIEWER,
  operator: [...VIEWER, 'signal:write', 'rules:write'],
  admin: PERMISSIONS,
};

/** The role that may exactly what these permissions allow; null where there is none. */
export const roleOf = (permissions: readonly Permission[]): RoleName | null =>
  ROLE_NAMES.find((role) => PERMISSIONS.every((each) => allows(ROLES[role], each) === allows(permissions, each))) ?? null;
