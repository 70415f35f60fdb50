const OF_WORKSPACE = `w.id AS workspace_id, o.id AS organization_id, o.subscription, w.protect, w.min_prefix_v4, w.min_prefix_v6, w.peers, w.approval,
  s.revision AS sample_revision, s.max_share, s.rules, s.requests, s.bytes, s.taken_at`;

/** Keys that are not revoked; a condition on the hash follows. */
export const CALLER = `SELECT k.hash, k.id, k.list_id, k.feed_id, l.source_id AS list_source_id, k.permissions, k.networks, k.expires_at,
  ${OF_WORKSPACE}
  FROM keys k JOIN workspaces w ON w.pk = k.workspace_pk JOIN organizations o ON o.pk = w.organization_pk
  LEFT JOIN samples s ON s.workspace_pk = w.pk LEFT JOIN lists l ON l.id = k.list_id
  WHERE k.revoked_at IS NULL AND k.hash`;

/** A condition follows. */
export const WORKPLACE = `SELECT w.name, w.people, ${OF_WORKSPACE}
  FROM workspaces w JOIN organizations o ON o.pk = w.organization_pk LEFT JOIN samples s ON s.workspace_pk = w.pk`;

/** The columns of `workspaceOf`; a condition or an order follows. */
export const WORKSPACES = 'SELECT w.*, o.id AS organization_id FROM workspaces w JOIN organizations o ON o.pk = w.organization_pk';
