-- Who changed what of which workspace: the key, the person behind it, and what was changed as JSON.
ALTER TABLE audit ADD COLUMN workspace_pk INTEGER;
ALTER TABLE audit ADD COLUMN key_id TEXT;
ALTER TABLE audit ADD COLUMN actor TEXT;
ALTER TABLE audit ADD COLUMN change TEXT;
UPDATE audit SET workspace_pk = coalesce(
  (SELECT pk FROM workspaces WHERE id = object),
  (SELECT workspace_pk FROM lists WHERE id = object),
  (SELECT workspace_pk FROM feeds WHERE id = object),
  (SELECT workspace_pk FROM keys WHERE id = object));
CREATE INDEX audit_workspace ON audit (workspace_pk, id);

-- Answers to requests that are to be done once, kept for a day.
CREATE TABLE answers (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  workspace_pk INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  token TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  answer TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE UNIQUE INDEX answers_token ON answers (workspace_pk, key_id, token);
CREATE INDEX answers_at ON answers (at);

-- Pages.
CREATE INDEX lists_page ON lists (workspace_pk, pk);
CREATE INDEX feeds_page ON feeds (workspace_pk, pk);
CREATE INDEX keys_page ON keys (workspace_pk, created_at, id);
