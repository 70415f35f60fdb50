-- Frozen feeds (D60.1): settings and rules of a feed as of the freeze. `feed` is a UUID, empty for the workspace's feed; `rules` are
-- compressed pieces of a list, with its place in the feed as `part`.
CREATE TABLE freezes (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  feed TEXT NOT NULL,
  revision BIGINT NOT NULL,
  profile TEXT NOT NULL,
  head TEXT NOT NULL,
  fits TEXT,
  rules BIGINT NOT NULL,
  reason TEXT,
  author TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE (workspace_pk, feed)
) STRICT;
CREATE TABLE frozen_rules (
  freeze_pk BIGINT NOT NULL REFERENCES freezes (pk),
  part INTEGER NOT NULL,
  piece INTEGER NOT NULL,
  rules BYTEA NOT NULL,
  PRIMARY KEY (freeze_pk, part, piece)
) STRICT, WITHOUT ROWID;
