/** A role is a set of permissions (SPEC D24.1). */
import { allows, PERMISSIONS, type Permission } from './permission.ts';

export const ROLE_NAMES = ['viewer', 'operator', 'admin'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

const VIEWER = ['feed:read', 'rules:read', 'config:read'] as const satisfies readonly Permission[];

export const ROLES: Readonly<Record<RoleName, readonly Permission[]>> = {
  viewer: VIEWER,
  operator: [...VIEWER, 'signal:write', 'rules:write'],
  admin: PERMISSIONS,
};

export const ROLE_LABELS: Readonly<Record<RoleName, string>> = {
  viewer: 'Viewer: sees everything, changes nothing',
  operator: 'Operator: blocks, allows, undoes',
  admin: 'Admin: everything',
};

export const roleOf = (permissions: readonly Permission[]): RoleName | null =>
  ROLE_NAMES.find((role) => PERMISSIONS.every((each) => allows(ROLES[role], each) === allows(permissions, each))) ?? null;
