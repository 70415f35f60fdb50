-- Feeds made of lists: of all of the workspace (all_lists = 1), or of those in feed_lists. In feed_records their list_pk is -pk.
-- A feed's revision is this one and the sum of its lists' revisions; who takes a list out of a feed adds that list's revision to this one.
CREATE TABLE feeds (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  name TEXT NOT NULL,
  description TEXT,
  all_lists INTEGER NOT NULL,
  format TEXT,
  family TEXT,
  action TEXT,
  max_entries INTEGER,
  confidence TEXT,
  severity TEXT,
  subtract_allow TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX feeds_name ON feeds (workspace_pk, name);

CREATE TABLE feed_lists (
  feed_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  PRIMARY KEY (feed_pk, list_pk)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_lists_list ON feed_lists (list_pk);

-- The feed that a key is bound to.
ALTER TABLE keys ADD COLUMN feed_id TEXT;
CREATE INDEX keys_feed ON keys (feed_id) WHERE feed_id IS NOT NULL;
