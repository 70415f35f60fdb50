-- What needs attention and was put off (D18.72): of what, in which state, what it said; why, until when (ms), and by whom.
CREATE TABLE snoozes (
  id TEXT PRIMARY KEY,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  item TEXT NOT NULL,
  state TEXT NOT NULL,
  said TEXT NOT NULL,
  reason TEXT NOT NULL,
  since BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  key_id TEXT,
  actor TEXT,
  person TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snoozes_item ON snoozes (workspace_pk, item);
