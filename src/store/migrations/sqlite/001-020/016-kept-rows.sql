-- How many rows of the *_before tables each workspace has (D9.10): every change of that number is a row, and their sum counts.
CREATE TABLE kept_counts (workspace_pk INTEGER NOT NULL, rules INTEGER NOT NULL) STRICT;
CREATE INDEX kept_counts_workspace ON kept_counts (workspace_pk, rules);
INSERT INTO kept_counts SELECT workspace_pk, count(*) FROM (
  SELECT l.workspace_pk FROM lists l JOIN access_rules_before r ON r.list_pk = l.pk
  UNION ALL SELECT d.workspace_pk FROM deleted_lists d JOIN access_rules_before r ON r.list_pk = d.list_pk WHERE d.workspace_pk IS NOT NULL
  UNION ALL SELECT workspace_pk FROM waf_rules_before
  UNION ALL SELECT workspace_pk FROM smart_firewall_rules_before
) AS kept GROUP BY workspace_pk;
-- What the batches of a workspace have replaced is given up as far as this number: they cannot be undone any more. The rows are deleted as
-- far as `removed_seq`.
CREATE TABLE given_up (workspace_pk INTEGER PRIMARY KEY, removed_seq INTEGER NOT NULL, until_seq INTEGER NOT NULL) STRICT;
