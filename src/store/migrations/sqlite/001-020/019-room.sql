-- What a workspace takes of what is bounded in bytes (D22.2): rows of the audit log, and answers that are kept to be repeated.
ALTER TABLE audit ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE answers ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE audit SET bytes = 200 + length(coalesce(change, '')) WHERE workspace_pk IS NOT NULL;
UPDATE answers SET bytes = 200 + length(answer);
CREATE TABLE taken_bytes (
  what TEXT NOT NULL,
  workspace_pk INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (what, workspace_pk)
) STRICT, WITHOUT ROWID;
INSERT INTO taken_bytes SELECT 'audit', workspace_pk, sum(bytes) FROM audit WHERE workspace_pk IS NOT NULL GROUP BY workspace_pk;
INSERT INTO taken_bytes SELECT 'answers', workspace_pk, sum(bytes) FROM answers GROUP BY workspace_pk;
