-- What batches did (D9). Every item of the stream that lands takes the next number, its seq, which is also the id of the rule that it
-- makes: a rule whose id lies in a batch was made by it.
-- A rule's `seq` is that of the item that wrote it last; 0 for what was written before.
ALTER TABLE access_rules ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waf_rules ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE smart_firewall_rules ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
CREATE INDEX waf_rules_id ON waf_rules (id);
CREATE INDEX smart_firewall_rules_id ON smart_firewall_rules (id);

-- Which seqs a batch took in one landing; as many rows as landings and lists it was spread over.
CREATE TABLE batches (
  workspace_pk INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,       -- where its access rules landed
  batch_id TEXT,                  -- null: signals of another producer, without an id
  key_id TEXT,                    -- the key that sent it; null: a command
  undoes TEXT,                    -- the batch that it undoes
  received_at INTEGER NOT NULL,
  landed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_pk, first_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_id ON batches (batch_id);
CREATE INDEX batches_undoes ON batches (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX batches_landed ON batches (landed_at);

-- Rules as they were before the change number `changed`; `existed` 0: there was no such rule, and the row says which one it became.
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
CREATE INDEX access_rules_before_ref ON access_rules_before (list_pk, rule_ref, changed) WHERE rule_ref IS NOT NULL;
CREATE INDEX access_rules_before_value ON access_rules_before (list_pk, action, target, changed) WHERE rule_ref IS NULL;

CREATE TABLE waf_rules_before (
  workspace_pk INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  rule_ref TEXT NOT NULL,
  id INTEGER NOT NULL,
  existed INTEGER NOT NULL,
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" INTEGER,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (workspace_pk, changed, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX waf_rules_before_ref ON waf_rules_before (workspace_pk, rule_ref, changed);

CREATE TABLE smart_firewall_rules_before (
  workspace_pk INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  rule_ref TEXT NOT NULL,
  id INTEGER NOT NULL,
  existed INTEGER NOT NULL,
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" INTEGER,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (workspace_pk, changed, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX smart_firewall_rules_before_ref ON smart_firewall_rules_before (workspace_pk, rule_ref, changed);
