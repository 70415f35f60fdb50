/** What a key may do; none given at creation means the first two. */
export const PERMISSIONS = ['signal:write', 'feed:read', 'manage'] as const;
export type Permission = (typeof PERMISSIONS)[number];
