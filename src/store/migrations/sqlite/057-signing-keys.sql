-- The keys that sign a workspace's feeds (D58.3): the public half, and the private half encrypted. The oldest signs.
CREATE TABLE signing_keys (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  public_key TEXT NOT NULL,
  secret BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX signing_keys_workspace ON signing_keys (workspace_pk, pk);
