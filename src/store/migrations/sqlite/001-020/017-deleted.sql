-- Lists and composed feeds that were deleted and can be brought back until `until`; the rules of one stay in their table until then.
-- A feed's list_pk is -pk, as in feed_records. What was deleted before is swept away at once.
ALTER TABLE deleted_lists ADD COLUMN id TEXT;
ALTER TABLE deleted_lists ADD COLUMN name TEXT;
ALTER TABLE deleted_lists ADD COLUMN deleted_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deleted_lists ADD COLUMN until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deleted_lists ADD COLUMN was TEXT;  -- its row as JSON
CREATE INDEX deleted_lists_workspace ON deleted_lists (workspace_pk, until);
CREATE INDEX deleted_lists_until ON deleted_lists (until);

-- Which of these, and which that are there, belonged together.
CREATE TABLE deleted_members (
  feed_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  PRIMARY KEY (feed_pk, list_pk)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_members_list ON deleted_members (list_pk);

-- The list or feed with which a key was revoked; null: it was revoked by itself, and stays so.
ALTER TABLE keys ADD COLUMN revoked_with TEXT;
CREATE INDEX keys_revoked_with ON keys (revoked_with) WHERE revoked_with IS NOT NULL;
