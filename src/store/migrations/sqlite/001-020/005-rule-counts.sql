-- How many rules each workspace has: every change of that number is a row, and their sum counts, so that no transaction waits for
-- another's count. Rules count until they are swept away.
CREATE TABLE rule_counts (workspace_pk INTEGER NOT NULL, rules INTEGER NOT NULL) STRICT;
CREATE INDEX rule_counts_workspace ON rule_counts (workspace_pk, rules);
INSERT INTO rule_counts SELECT workspace_pk, count(*) FROM (
  SELECT l.workspace_pk FROM lists l JOIN access_rules r ON r.list_pk = l.pk
  UNION ALL SELECT workspace_pk FROM waf_rules
  UNION ALL SELECT workspace_pk FROM smart_firewall_rules
) AS stored GROUP BY workspace_pk;
-- Whose rules they are that still have to be swept away; unknown for lists that were deleted before.
ALTER TABLE deleted_lists ADD COLUMN workspace_pk INTEGER;
