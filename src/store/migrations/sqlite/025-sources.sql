-- Lists with an origin: what is set of each, how it is, and what is asked of it (JSON), its secret as it is sealed, and its last runs.
CREATE TABLE sources (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  list_pk INTEGER NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  secret BLOB,
  state TEXT NOT NULL,
  asked TEXT,
  is_paused INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sources_workspace ON sources (workspace_pk, pk);
CREATE TABLE source_runs (
  source_pk INTEGER NOT NULL REFERENCES sources (pk),
  n INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (source_pk, n)
) STRICT, WITHOUT ROWID;
ALTER TABLE lists ADD COLUMN source_id TEXT;
INSERT INTO counters VALUES ('source_revision', 1);

-- What one process of many does: who, until when, and a number that moves with the holder.
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
