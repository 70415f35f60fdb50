/** What a key may do (SPEC D2.4). */
export const PERMISSIONS = ['signal:write', 'feed:read', 'manage', 'rules:read', 'config:read'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a key may do that is made without any permission. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ['signal:write', 'feed:read'];
