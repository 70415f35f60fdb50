-- Addresses from which a key or person of a workspace was last used, while it protects `peers` (D62.1). `peers` of the workspace: those
-- protected, as JSON.
CREATE TABLE peers (
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  key_id TEXT NOT NULL,
  address TEXT NOT NULL,
  is_person INTEGER NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, key_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX peers_address ON peers (address, workspace_pk);
CREATE INDEX peers_seen ON peers (seen_at);
ALTER TABLE workspaces ADD COLUMN peers TEXT NOT NULL DEFAULT '';
