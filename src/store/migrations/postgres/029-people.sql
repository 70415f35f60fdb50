-- People (D24). A session may be that of a person whom a provider has named: who that is there, the groups (JSON) and the workspace that he
-- begins in, the provider's own session, when it was opened, when and with what (sealed) the provider is asked again.
ALTER TABLE sessions ADD COLUMN provider TEXT;
ALTER TABLE sessions ADD COLUMN subject TEXT;
ALTER TABLE sessions ADD COLUMN sid TEXT;
ALTER TABLE sessions ADD COLUMN member_of TEXT;
ALTER TABLE sessions ADD COLUMN home TEXT;
ALTER TABLE sessions ADD COLUMN opened_at BIGINT;
ALTER TABLE sessions ADD COLUMN renew_at BIGINT;
ALTER TABLE sessions ADD COLUMN renewal BYTEA;
CREATE INDEX sessions_subject ON sessions (provider, subject) WHERE provider IS NOT NULL;
CREATE INDEX sessions_sid ON sessions (provider, sid) WHERE sid IS NOT NULL;
-- What the members of groups may in a workspace (JSON).
ALTER TABLE workspaces ADD COLUMN people TEXT NOT NULL DEFAULT '[]';
-- Who changed something, where a provider has named him.
ALTER TABLE audit ADD COLUMN person TEXT;
ALTER TABLE batches ADD COLUMN actor TEXT;
ALTER TABLE batches ADD COLUMN person TEXT;
-- Who was seen in which workspace, and when last.
CREATE TABLE people (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  last_seen BIGINT NOT NULL,
  UNIQUE (workspace_pk, person)
);
CREATE INDEX people_workspace ON people (workspace_pk, last_seen);
CREATE INDEX people_seen ON people (last_seen);
