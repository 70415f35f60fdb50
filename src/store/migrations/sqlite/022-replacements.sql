-- Lists that are being made equal to a content: what it is about (head, JSON), how far it is, and its pieces: the content as it came, and the
-- messages that go onto the stream. A process that ends leaves it to another, which goes on.
CREATE TABLE replacements (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  list_id TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  touched_at INTEGER NOT NULL,
  held_until INTEGER NOT NULL,
  published INTEGER NOT NULL,
  head TEXT NOT NULL
) STRICT;
CREATE INDEX replacements_workspace ON replacements (workspace_pk, touched_at);
CREATE INDEX replacements_state ON replacements (state, touched_at);
-- One at a time for a list.
CREATE UNIQUE INDEX replacements_list ON replacements (list_id) WHERE state IN ('planning', 'running');
CREATE TABLE replacement_pieces (
  replacement_pk INTEGER NOT NULL REFERENCES replacements (pk),
  piece TEXT NOT NULL,
  n INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (replacement_pk, piece, n)
) STRICT, WITHOUT ROWID;
