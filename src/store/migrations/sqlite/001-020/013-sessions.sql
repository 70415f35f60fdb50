-- Who is signed in to the console: the SHA-256 of the session's id, the key that it stands for by its hash, and the person's name.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE,
  key_hash BLOB NOT NULL,
  actor TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_key ON sessions (key_hash, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
