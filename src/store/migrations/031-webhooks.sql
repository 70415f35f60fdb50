-- Where workspaces are told what changes (D27): what is set of each (JSON), with its secret as it is sealed; how far each was told, the message
-- that waits (JSON) and until when, when its last one was made; and its last tries.
CREATE TABLE webhooks (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  settings TEXT NOT NULL,
  secret BYTEA,
  created_at BIGINT NOT NULL
) STRICT;
CREATE INDEX webhooks_workspace ON webhooks (workspace_pk, pk);
CREATE TABLE webhook_states (
  hook_id TEXT PRIMARY KEY,
  told TEXT NOT NULL,
  message TEXT,
  next_at BIGINT,
  last_at BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_states_next ON webhook_states (next_at) WHERE next_at IS NOT NULL;
CREATE TABLE webhook_deliveries (
  hook_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  delivery TEXT NOT NULL,
  PRIMARY KEY (hook_id, n)
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('webhook_revision', 1);

-- What processes know and no store does (JSON), for whoever tells it.
CREATE TABLE process_reports (
  process TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  report TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What has stopped pulling in one workspace.
CREATE INDEX devices_stopped_of ON devices (workspace_pk, stopped_at) WHERE stopped_at IS NOT NULL;
CREATE INDEX bouncers_pull ON bouncers (workspace_pk, last_pull);
