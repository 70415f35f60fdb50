-- What happened to the rules of a list (of a workspace's kind without lists: place 0) in a minute, by who did it (JSON; '': they expired).
-- batch_id and reason: '' for none, NULL for several.
CREATE TABLE rule_changes (
  workspace_pk BIGINT NOT NULL,
  minute BIGINT NOT NULL,
  place BIGINT NOT NULL,
  kind TEXT NOT NULL,
  sender TEXT NOT NULL,
  added BIGINT NOT NULL,
  renewed BIGINT NOT NULL,
  removed BIGINT NOT NULL,
  expired BIGINT NOT NULL,
  batch_id TEXT,
  reason TEXT,
  PRIMARY KEY (workspace_pk, minute, place, kind, sender)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_changes_minute ON rule_changes (minute);
-- What landed before is not told: 0 where nothing had.
INSERT INTO counters SELECT 'changes_since', coalesce(max(landed_at), 0) FROM batches;
-- The audit log of a workspace between two instants.
CREATE INDEX audit_time ON audit (workspace_pk, at, id);
