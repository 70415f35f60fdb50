-- What the bouncers of a feed were told: all of it in the first row, and what came since in the others. feed_id '' is the workspace's feed.
CREATE TABLE told_networks (
  workspace_pk INTEGER NOT NULL,
  feed_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  entries BLOB NOT NULL,
  PRIMARY KEY (workspace_pk, feed_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_networks_at ON told_networks (at);

-- Who pulls decisions: a client with a key, by its User-Agent and address.
CREATE TABLE bouncers (
  workspace_pk INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  feed_id TEXT,
  first_seen INTEGER NOT NULL,
  last_pull INTEGER NOT NULL,
  decisions INTEGER NOT NULL,
  networks INTEGER NOT NULL,
  left_out_networks INTEGER NOT NULL,
  left_out_addresses REAL NOT NULL,
  metrics TEXT,
  metrics_at INTEGER,
  PRIMARY KEY (workspace_pk, key_id, user_agent, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX bouncers_last_pull ON bouncers (last_pull);

ALTER TABLE lists ADD COLUMN single_addresses INTEGER;
ALTER TABLE feeds ADD COLUMN single_addresses INTEGER;
