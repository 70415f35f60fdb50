-- Tables of SQLite whose columns have another order in PostgreSQL.

INSERT INTO counters VALUES ('rule_id', 0);

-- Clustered by list: a feed reads its rules in one sweep. The columns that feeds read come first.
-- A rule's `seq` is the number of the item that wrote it last; 0: from before there were numbers.
CREATE TABLE access_rules (
  list_pk INTEGER NOT NULL,
  id INTEGER NOT NULL,
  action INTEGER NOT NULL,        -- 0 block, 1 allow
  v4 INTEGER,                     -- first address × 64 + prefix length
  v6 BLOB,                        -- 16 bytes of the first address, one of the prefix length
  expires_at INTEGER,
  levels INTEGER NOT NULL,        -- confidence × 5 + severity, each 0 = unset, 1 = low … 4 = critical
  target TEXT NOT NULL,           -- canonical text
  rule_ref TEXT,
  name TEXT,
  reason TEXT,
  labels TEXT,
  config TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (list_pk, id)
) STRICT, WITHOUT ROWID;

-- Rules before the change number `changed`; `existed` 0: there was none, and the row has the new rule.
CREATE TABLE access_rules_before (
  list_pk INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  id INTEGER NOT NULL,
  existed INTEGER NOT NULL,
  action INTEGER NOT NULL,
  v4 INTEGER,
  v6 BLOB,
  expires_at INTEGER,
  levels INTEGER NOT NULL,
  target TEXT NOT NULL,
  rule_ref TEXT,
  name TEXT,
  reason TEXT,
  labels TEXT,
  config TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (list_pk, changed, id)
) STRICT, WITHOUT ROWID;

-- Numbers of the items of a batch (D9): a row for each landing and list. A rule whose id is one of them was created by the batch.
CREATE TABLE batches (
  workspace_pk INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,       -- the list of its access rules
  batch_id TEXT,                  -- null: signals of another producer, without an id
  key_id TEXT,                    -- the sender's key; null: a command
  undoes TEXT,                    -- the batch that it undoes
  received_at INTEGER NOT NULL,
  landed_at INTEGER NOT NULL,
  undone INTEGER NOT NULL DEFAULT 0, -- whether it is undone (D9.3)
  actor TEXT,
  person TEXT,
  PRIMARY KEY (workspace_pk, first_seq)
) STRICT, WITHOUT ROWID;
