-- Changes that wait for a second person (D67.1). `content`: the exact messages or request, compressed, deleted with the decision;
-- `approvers` and `author`: JSON; `blocked`: addresses that approved blocks do not count again (D67.3).
ALTER TABLE workspaces ADD COLUMN approval TEXT;
ALTER TABLE workspaces ADD COLUMN approval_addresses BIGINT;
ALTER TABLE workspaces ADD COLUMN approval_rules INTEGER;
CREATE TABLE approvals (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  id TEXT NOT NULL UNIQUE,
  operation TEXT NOT NULL,
  why TEXT NOT NULL,
  addresses BIGINT NOT NULL,
  blocked BIGINT NOT NULL,
  rules BIGINT NOT NULL,
  hash TEXT NOT NULL,
  content BYTEA,
  bytes BIGINT NOT NULL,
  author TEXT NOT NULL,
  approvers TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  approved_at BIGINT,
  touched_at BIGINT NOT NULL
) STRICT;
CREATE INDEX approvals_by_workspace ON approvals (workspace_pk, pk);
CREATE INDEX approvals_unapplied ON approvals (pk) WHERE state = 'approved';
