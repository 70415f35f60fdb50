-- Codes with which hosts get their keys (D52.1): the key that each creates, and who created the code, as JSON. A used code is deleted.
CREATE TABLE enrolments (
  id TEXT PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  list_id TEXT,
  feed_id TEXT,
  name TEXT NOT NULL,
  networks TEXT NOT NULL,
  key_expires_at BIGINT,
  author TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX enrolments_workspace ON enrolments (workspace_pk, created_at);
CREATE INDEX enrolments_end ON enrolments (expires_at);
