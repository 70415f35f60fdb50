-- Tables of PostgreSQL whose columns have another order in SQLite: columns of fixed width come first, without padding.
-- COLLATE "C": names for programs sort equally on every server. The columns are described in sqlite.sql.

CREATE INDEX keys_workspace ON keys (workspace_pk);

-- Shared by all kinds of rules; never decreases.
CREATE SEQUENCE rule_ids AS BIGINT;

CREATE TABLE access_rules (
  id BIGINT NOT NULL DEFAULT nextval('rule_ids'),
  v4 BIGINT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  list_pk INTEGER NOT NULL,
  action SMALLINT NOT NULL,
  levels SMALLINT NOT NULL,
  v6 BYTEA,
  target TEXT COLLATE "C" NOT NULL,
  rule_ref TEXT COLLATE "C",
  name TEXT,
  reason TEXT,
  labels TEXT,
  config TEXT,
  seq BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (list_pk, id)
);

CREATE TABLE access_rules_before (
  changed BIGINT NOT NULL,
  id BIGINT NOT NULL,
  v4 BIGINT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  list_pk INTEGER NOT NULL,
  action SMALLINT NOT NULL,
  levels SMALLINT NOT NULL,
  existed SMALLINT NOT NULL,
  v6 BYTEA,
  target TEXT COLLATE "C" NOT NULL,
  rule_ref TEXT COLLATE "C",
  name TEXT,
  reason TEXT,
  labels TEXT,
  config TEXT,
  PRIMARY KEY (list_pk, changed, id)
);

CREATE TABLE batches (
  workspace_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  landed_at BIGINT NOT NULL,
  batch_id TEXT COLLATE "C",
  key_id TEXT,
  undoes TEXT COLLATE "C",
  undone SMALLINT NOT NULL DEFAULT 0,
  actor TEXT,
  person TEXT,
  PRIMARY KEY (workspace_pk, first_seq)
);
