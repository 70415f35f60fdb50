-- What the bouncers of a feed were told: all of it in the first row, and what came since in the others. feed_id '' is the workspace's feed.
CREATE TABLE told_networks (
  workspace_pk INTEGER NOT NULL,
  feed_id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  entries BYTEA NOT NULL,
  PRIMARY KEY (workspace_pk, feed_id, seq)
);
CREATE INDEX told_networks_at ON told_networks (at);

-- Who pulls decisions: a client with a key, by its User-Agent and address.
CREATE TABLE bouncers (
  workspace_pk INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  feed_id TEXT,
  first_seen BIGINT NOT NULL,
  last_pull BIGINT NOT NULL,
  decisions BIGINT NOT NULL,
  networks BIGINT NOT NULL,
  left_out_networks BIGINT NOT NULL,
  left_out_addresses DOUBLE PRECISION NOT NULL,
  metrics TEXT,
  metrics_at BIGINT,
  PRIMARY KEY (workspace_pk, key_id, user_agent, address)
);
CREATE INDEX bouncers_last_pull ON bouncers (last_pull);

ALTER TABLE lists ADD COLUMN single_addresses INTEGER;
ALTER TABLE feeds ADD COLUMN single_addresses INTEGER;
