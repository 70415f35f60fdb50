-- Moves with every change of a workspace, its lists, feeds and sources; `revision` moves with its rules too.
ALTER TABLE workspaces ADD COLUMN settings_revision BIGINT NOT NULL DEFAULT 1;

-- Stable views for reports (docs/operating.md, "Reports in SQL"): a column that is here stays. Times are timestamptz.
CREATE VIEW report_rules AS
SELECT w.id AS workspace_id, w.name AS workspace, r.kind, r.list_id, r.list, r.id, r.change, r.rule_ref, r.action, r.target, r.expression,
  r.name, r.reason,
  CASE r.levels / 5 WHEN 1 THEN 'low' WHEN 2 THEN 'medium' WHEN 3 THEN 'high' WHEN 4 THEN 'critical' END AS confidence,
  CASE r.levels % 5 WHEN 1 THEN 'low' WHEN 2 THEN 'medium' WHEN 3 THEN 'high' WHEN 4 THEN 'critical' END AS severity,
  r.labels,
  to_timestamp(r.created_at / 1000.0) AS created_at,
  to_timestamp(r.updated_at / 1000.0) AS updated_at,
  to_timestamp(r.expires_at / 1000.0) AS expires_at,
  r.expires_at IS NULL OR r.expires_at > extract(epoch FROM now()) * 1000 AS active
FROM workspaces w JOIN (
  SELECT l.workspace_pk, 'access_rule' AS kind, l.id AS list_id, l.name AS list, a.id, a.seq AS change, a.rule_ref,
    CASE a.action WHEN 0 THEN 'block' ELSE 'allow' END AS action, a.target, CAST(NULL AS TEXT) AS expression, a.name, a.reason, a.levels, a.labels,
    a.created_at, a.updated_at, a.expires_at FROM lists l JOIN access_rules a ON a.list_pk = l.pk
  UNION ALL SELECT workspace_pk, 'waf_rule', NULL, NULL, id, seq, rule_ref, action, NULL, expression, name, reason, 0, labels,
    created_at, updated_at, expires_at FROM waf_rules
  UNION ALL SELECT workspace_pk, 'smart_firewall_rule', NULL, NULL, id, seq, rule_ref, action, NULL, expression, name, reason, 0, labels,
    created_at, updated_at, expires_at FROM smart_firewall_rules
) r ON r.workspace_pk = w.pk;

-- A row for each part of a batch: a batch that was applied in several parts or lists has several.
CREATE VIEW report_batches AS
SELECT w.id AS workspace_id, w.name AS workspace, b.batch_id, l.id AS list_id, l.name AS list, b.first_seq AS first_change,
  b.last_seq AS last_change, b.last_seq - b.first_seq + 1 AS entries, b.key_id, b.actor, b.person, b.undoes,
  to_timestamp(b.received_at / 1000.0) AS received_at,
  to_timestamp(b.landed_at / 1000.0) AS applied_at
FROM batches b JOIN workspaces w ON w.pk = b.workspace_pk LEFT JOIN lists l ON l.pk = b.list_pk;

-- Sizes are those of the last day on which the feed was built.
CREATE VIEW report_feeds AS
SELECT w.id AS workspace_id, w.name AS workspace, f.kind, f.feed_id, f.feed, f.description, f.format, f.family, f.action, f.max_entries,
  f.target, f.min_sources, f.fit, DATE '1970-01-01' + d.day AS sized_on, d.last_v4 AS entries_v4, d.last_v6 AS entries_v6,
  to_timestamp(f.created_at / 1000.0) AS created_at
FROM workspaces w JOIN (
  SELECT pk AS workspace_pk, 0 AS place, 'workspace' AS kind, CAST(NULL AS TEXT) AS feed_id, name AS feed, CAST(NULL AS TEXT) AS description,
    CAST(NULL AS TEXT) AS format, CAST(NULL AS TEXT) AS family, CAST(NULL AS TEXT) AS action, CAST(NULL AS INTEGER) AS max_entries,
    CAST(NULL AS TEXT) AS target, CAST(NULL AS INTEGER) AS min_sources, CAST(NULL AS TEXT) AS fit, created_at FROM workspaces
  UNION ALL SELECT workspace_pk, pk, 'list', id, name, description, format, family, action, max_entries, target, NULL, NULL, created_at
  FROM lists
  UNION ALL SELECT workspace_pk, -pk, 'composed', id, name, description, format, family, action, max_entries, target, min_sources, fit,
    created_at FROM feeds
) f ON f.workspace_pk = w.pk LEFT JOIN feed_days d ON d.workspace_pk = w.pk AND d.list_pk = f.place AND d.day = (
  SELECT max(s.day) FROM feed_days s WHERE s.workspace_pk = w.pk AND s.list_pk = f.place AND coalesce(s.last_v4, s.last_v6) IS NOT NULL
);
