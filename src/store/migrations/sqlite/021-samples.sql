-- Requests of good traffic that a workspace keeps, and what share of them a rule may block: what was set, and the requests in parts.
CREATE TABLE samples (
  workspace_pk INTEGER PRIMARY KEY REFERENCES workspaces (pk),
  revision INTEGER NOT NULL,
  max_share REAL,
  rules TEXT NOT NULL DEFAULT 'generated',
  requests INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  taken_at INTEGER NOT NULL
) STRICT;
CREATE TABLE sample_parts (
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  part INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (workspace_pk, part)
) STRICT;
