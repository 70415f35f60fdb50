import { one, type Work } from './work.ts';

export const WORKSPACE_PK = '(SELECT pk FROM workspaces WHERE id = $1)';

export function* workspacePk(workspaceId: string): Work<number | undefined> {
  const row = yield* one('SELECT pk FROM workspaces WHERE id = $1', workspaceId);
  return row && Number(row.pk);
}

/** 0 for the workspace's feed, -pk for a composed feed. */
export const FEED_PK = 'coalesce(l.pk, -f.pk, 0)';

/** The workspace `$1` as `w`, if `$2` is null or one of its lists or composed feeds. */
export const FROM_FEED = `FROM workspaces w LEFT JOIN lists l ON l.workspace_pk = w.pk AND l.id = $2 LEFT JOIN feeds f ON f.workspace_pk = w.pk AND f.id = $2
  WHERE w.id = $1 AND (CAST($2 AS TEXT) IS NULL OR l.pk IS NOT NULL OR f.pk IS NOT NULL)`;
