-- The keys that sign a workspace's feeds (D63.3): the public half, and the private half encrypted. The oldest signs.
CREATE TABLE signing_keys (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  public_key TEXT NOT NULL,
  secret BYTEA NOT NULL,
  created_at BIGINT NOT NULL
) STRICT;
CREATE INDEX signing_keys_workspace ON signing_keys (workspace_pk, pk);
