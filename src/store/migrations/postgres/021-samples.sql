-- Requests of good traffic that a workspace keeps, and what share of them a rule may block: what was set, and the requests in parts.
CREATE TABLE samples (
  workspace_pk INTEGER PRIMARY KEY REFERENCES workspaces (pk),
  revision BIGINT NOT NULL,
  max_share DOUBLE PRECISION,
  rules TEXT NOT NULL DEFAULT 'generated',
  requests BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  taken_at BIGINT NOT NULL
);
CREATE TABLE sample_parts (
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  part BIGINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (workspace_pk, part)
);
