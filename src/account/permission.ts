/** What a key may do (SPEC D2.4). */
export const PERMISSIONS = ['signal:write', 'feed:read', 'manage', 'rules:read', 'config:read', 'rules:write', 'keys:write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a key may do that is made without any permission. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ['signal:write', 'feed:read'];

/** What else a permission includes (SPEC D15.2). */
const INCLUDED: Readonly<Partial<Record<Permission, readonly Permission[]>>> = {
  manage: ['rules:read', 'rules:write'],
  'rules:write': ['rules:read'],
};

/** Permissions that concern the whole workspace: a key that is bound to a list cannot hold them. */
export const WORKSPACE_PERMISSIONS: readonly Permission[] = ['manage', 'rules:write', 'keys:write'];

/** Whether a key with these permissions may do what needs `permission`. */
export const allows = (permissions: readonly Permission[], permission: Permission): boolean =>
  permissions.some((held) => held === permission || INCLUDED[held]?.includes(permission));
