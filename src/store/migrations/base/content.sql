-- Sources, replacements and samples, and the fetches of feeds.

-- Lists with an origin: settings, state, requests (JSON), the encrypted secret, the last runs.
CREATE TABLE sources (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  list_pk BIGINT NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  secret BYTEA,
  state TEXT NOT NULL,
  asked TEXT,
  is_paused BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  created_at BIGINT NOT NULL
) STRICT;
CREATE INDEX sources_workspace ON sources (workspace_pk, pk);
CREATE TABLE source_runs (
  source_pk BIGINT NOT NULL REFERENCES sources (pk),
  n BIGINT NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (source_pk, n)
) STRICT, WITHOUT ROWID;

-- Running replacements of lists: subject (head, JSON), progress, and the pieces: the received content, and the messages for the stream.
-- Another process continues after the end of one.
CREATE TABLE replacements (
  pk BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk BIGINT NOT NULL REFERENCES workspaces (pk),
  list_id TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  held_until BIGINT NOT NULL,
  published BIGINT NOT NULL,
  head TEXT NOT NULL
) STRICT;
CREATE INDEX replacements_workspace ON replacements (workspace_pk, touched_at);
CREATE INDEX replacements_state ON replacements (state, touched_at);
CREATE UNIQUE INDEX replacements_list ON replacements (list_id) WHERE state IN ('planning', 'running');
CREATE TABLE replacement_pieces (
  replacement_pk BIGINT NOT NULL REFERENCES replacements (pk),
  piece TEXT NOT NULL,
  n BIGINT NOT NULL,
  body BYTEA NOT NULL,
  PRIMARY KEY (replacement_pk, piece, n)
) STRICT, WITHOUT ROWID;

-- Good requests of a workspace, and the share of them that a rule may block.
CREATE TABLE samples (
  workspace_pk INTEGER PRIMARY KEY REFERENCES workspaces (pk),
  revision BIGINT NOT NULL,
  max_share DOUBLE PRECISION,
  rules TEXT NOT NULL DEFAULT 'generated',
  requests BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  taken_at BIGINT NOT NULL
) STRICT;
CREATE TABLE sample_parts (
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  part BIGINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (workspace_pk, part)
) STRICT;

-- First appearance of the content of each representation (Last-Modified). list_pk 0: the workspace feed; -pk: a composed feed.
CREATE TABLE feed_records (
  workspace_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  format TEXT NOT NULL,
  family TEXT NOT NULL,
  action TEXT NOT NULL,
  hash TEXT NOT NULL,
  snapshot_at BIGINT NOT NULL,
  since BIGINT NOT NULL,          -- whole seconds
  PRIMARY KEY (workspace_pk, list_pk, format, family, action)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_records_list ON feed_records (list_pk);

-- Changes and sizes per day (UTC, counted from 1970); list_pk as in feed_records.
CREATE TABLE feed_days (
  workspace_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  day INTEGER NOT NULL,
  added BIGINT NOT NULL DEFAULT 0,
  expired BIGINT NOT NULL DEFAULT 0,
  undone BIGINT NOT NULL DEFAULT 0,
  removed BIGINT NOT NULL DEFAULT 0,
  last_v4 INTEGER,
  max_v4 INTEGER,
  last_v6 INTEGER,
  max_v6 INTEGER,
  PRIMARY KEY (workspace_pk, list_pk, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_days_day ON feed_days (day);

-- Networks announced to the bouncers of a feed: all in the first row, later changes in the others. feed_id '': the workspace feed.
CREATE TABLE told_networks (
  workspace_pk INTEGER NOT NULL,
  feed_id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  entries BYTEA NOT NULL,
  PRIMARY KEY (workspace_pk, feed_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_networks_at ON told_networks (at);

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
  last_stream BIGINT, -- last fetch of the stream; null: it looks addresses up
  PRIMARY KEY (workspace_pk, key_id, user_agent, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX bouncers_last_pull ON bouncers (last_pull);

-- Clients of feeds (D16.7): a key, a User-Agent and an address. `documents` (JSON): the last fetch and content of each document.
CREATE TABLE devices (
  workspace_pk INTEGER NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  first_pull BIGINT NOT NULL,
  last_pull BIGINT NOT NULL,
  pulls BIGINT NOT NULL,
  counted_from BIGINT NOT NULL,   -- usual interval: from here to the last fetch, divided by the fetches since
  counted BIGINT NOT NULL,
  ok BIGINT NOT NULL,
  not_modified BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  last_status INTEGER NOT NULL,
  validates INTEGER NOT NULL,     -- whether it ever sent validators
  documents TEXT NOT NULL,
  patience BIGINT,                -- ms after a fetch until it counts as stopped; null: no usual interval yet
  due_at BIGINT,                  -- last_pull + patience while it fetches
  stopped_at BIGINT,              -- when weir noticed that it had stopped
  PRIMARY KEY (workspace_pk, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_key ON devices (workspace_pk, key_id, id);
CREATE INDEX devices_pull ON devices (workspace_pk, last_pull);
CREATE INDEX devices_last ON devices (last_pull);
CREATE INDEX devices_due ON devices (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX devices_stopped ON devices (stopped_at) WHERE stopped_at IS NOT NULL;
