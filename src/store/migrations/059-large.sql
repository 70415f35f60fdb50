-- Which changes are large (D64.1); null: the default. `recent_addresses`: addresses of signals by sender and minute (D64.3).
ALTER TABLE workspaces ADD COLUMN large TEXT;
ALTER TABLE workspaces ADD COLUMN large_addresses BIGINT;
ALTER TABLE workspaces ADD COLUMN large_networks INTEGER;
ALTER TABLE workspaces ADD COLUMN large_percent INTEGER;
CREATE TABLE recent_addresses (
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  sender TEXT NOT NULL,
  minute BIGINT NOT NULL,
  addresses BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, sender, minute)
) STRICT, WITHOUT ROWID;
