-- Lists with an origin: what is set of each, how it is, and what is asked of it (JSON), its secret as it is sealed, and its last runs.
CREATE TABLE sources (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  list_pk BIGINT NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  secret BYTEA,
  state TEXT NOT NULL,
  asked TEXT,
  is_paused BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX sources_workspace ON sources (workspace_pk, pk);
CREATE TABLE source_runs (
  source_pk BIGINT NOT NULL REFERENCES sources (pk),
  n BIGINT NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (source_pk, n)
);
ALTER TABLE lists ADD COLUMN source_id TEXT;
INSERT INTO counters VALUES ('source_revision', 1);

-- What one process of many does: who, until when, and a number that moves with the holder.
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until BIGINT NOT NULL,
  fence BIGINT NOT NULL
);
