-- By how many active access rules a list, or a workspace in all (0), grew on the day; on the last day possible: their number.
ALTER TABLE feed_days ADD COLUMN net BIGINT NOT NULL DEFAULT 0;
INSERT INTO feed_days (workspace_pk, list_pk, day, net)
  SELECT c.workspace_pk, c.place, c.minute / 1440, sum(c.added - c.removed - c.expired) FROM rule_changes c
  WHERE c.kind = 'access_rule' AND c.place IN (SELECT pk FROM lists UNION SELECT list_pk FROM deleted_lists)
  GROUP BY c.workspace_pk, c.place, c.minute / 1440
  ON CONFLICT (workspace_pk, list_pk, day) DO UPDATE SET net = excluded.net;
INSERT INTO feed_days (workspace_pk, list_pk, day, net)
  SELECT l.workspace_pk, l.pk, 2147483647, count(*) FROM access_rules r
  JOIN (SELECT pk, workspace_pk FROM lists UNION SELECT list_pk, workspace_pk FROM deleted_lists WHERE workspace_pk IS NOT NULL) l ON l.pk = r.list_pk
  WHERE r.expires_at IS NULL OR r.expires_at > (SELECT value FROM counters WHERE name = 'expired_until')
  GROUP BY l.workspace_pk, l.pk;
-- The first day (since 1970) with known growth: changes are stored for seven days; 0: nothing was applied before these were.
INSERT INTO counters SELECT 'net_since', CASE WHEN c.value = 0 THEN 0 WHEN c.value > e.value - 604800000 THEN c.value / 86400000 + 1
  ELSE (e.value - 604800000) / 86400000 + 1 END
  FROM counters c CROSS JOIN counters e WHERE c.name = 'changes_since' AND e.name = 'expired_until';
