/** SPEC D2.4. */
export const PERMISSIONS = ['signal:write', 'feed:read', 'manage', 'rules:read', 'config:read', 'rules:write', 'keys:write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const PERMISSION_LABELS: Readonly<Record<Permission, string>> = {
  'signal:write': 'Send signals',
  'feed:read': 'Fetch feeds',
  manage: 'Manage lists, feeds and settings',
  'rules:read': 'Read rules',
  'config:read': 'Read agent configuration',
  'rules:write': 'Change rules',
  'keys:write': 'Create and revoke keys',
};

export const DEFAULT_PERMISSIONS: readonly Permission[] = ['signal:write', 'feed:read'];

/** SPEC D15.2. */
export const IMPLIED_PERMISSIONS: Readonly<Partial<Record<Permission, readonly Permission[]>>> = {
  manage: ['rules:read', 'rules:write'],
  'rules:write': ['rules:read'],
};

/** Not available to keys bound to a list. */
export const WORKSPACE_PERMISSIONS: readonly Permission[] = ['manage', 'rules:write', 'keys:write'];

export const allows = (permissions: readonly Permission[], permission: Permission): boolean =>
  permissions.some((own) => own === permission || IMPLIED_PERMISSIONS[own]?.includes(permission));
