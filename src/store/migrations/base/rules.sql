-- Indexes of access rules and batches, whose tables are in the file of the dialect; rules with expressions; landing.

CREATE UNIQUE INDEX access_rules_ref ON access_rules (list_pk, rule_ref) WHERE rule_ref IS NOT NULL;
CREATE UNIQUE INDEX access_rules_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NULL;
CREATE INDEX access_rules_ref_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NOT NULL;
CREATE INDEX access_rules_id ON access_rules (id);
CREATE INDEX access_rules_expiry ON access_rules (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX access_rules_before_ref ON access_rules_before (list_pk, rule_ref, changed) WHERE rule_ref IS NOT NULL;
CREATE INDEX access_rules_before_value ON access_rules_before (list_pk, action, target, changed) WHERE rule_ref IS NULL;
CREATE INDEX batches_id ON batches (batch_id);
CREATE INDEX batches_undoes ON batches (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX batches_landed ON batches (landed_at);

CREATE TABLE waf_rules (
  workspace_pk INTEGER NOT NULL,
  rule_ref TEXT COLLATE "C" NOT NULL,
  id BIGINT NOT NULL DEFAULT nextval('rule_ids'),
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" BIGINT,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  seq BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_pk, rule_ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX waf_rules_expiry ON waf_rules (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX waf_rules_id ON waf_rules (id);
CREATE INDEX waf_rules_order ON waf_rules (workspace_pk, "order", rule_ref);

CREATE TABLE waf_rules_before (
  workspace_pk INTEGER NOT NULL,
  changed BIGINT NOT NULL,
  rule_ref TEXT COLLATE "C" NOT NULL,
  id BIGINT NOT NULL,
  existed SMALLINT NOT NULL,
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" BIGINT,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, changed, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX waf_rules_before_ref ON waf_rules_before (workspace_pk, rule_ref, changed);

CREATE TABLE smart_firewall_rules (
  workspace_pk INTEGER NOT NULL,
  rule_ref TEXT COLLATE "C" NOT NULL,
  id BIGINT NOT NULL DEFAULT nextval('rule_ids'),
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" BIGINT,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  seq BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_pk, rule_ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX smart_firewall_rules_expiry ON smart_firewall_rules (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX smart_firewall_rules_id ON smart_firewall_rules (id);
CREATE INDEX smart_firewall_rules_order ON smart_firewall_rules (workspace_pk, "order", rule_ref);

CREATE TABLE smart_firewall_rules_before (
  workspace_pk INTEGER NOT NULL,
  changed BIGINT NOT NULL,
  rule_ref TEXT COLLATE "C" NOT NULL,
  id BIGINT NOT NULL,
  existed SMALLINT NOT NULL,
  name TEXT,
  type TEXT NOT NULL,
  expression TEXT NOT NULL,
  action TEXT NOT NULL,
  "order" BIGINT,
  short_description TEXT,
  config TEXT,
  reason TEXT,
  labels TEXT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, changed, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX smart_firewall_rules_before_ref ON smart_firewall_rules_before (workspace_pk, rule_ref, changed);

-- Number of stored rules of each workspace (rule_counts), and of its rows in the tables *_before (kept_counts, D9.10): the sum of all
-- rows. Each change adds a row: no transaction waits for the count of another.
CREATE TABLE rule_counts (workspace_pk INTEGER NOT NULL, rules BIGINT NOT NULL) STRICT;
CREATE INDEX rule_counts_workspace ON rule_counts (workspace_pk, rules);
CREATE TABLE kept_counts (workspace_pk INTEGER NOT NULL, rules BIGINT NOT NULL) STRICT;
CREATE INDEX kept_counts_workspace ON kept_counts (workspace_pk, rules);

-- Batches of a workspace up to `until_seq` cannot be undone any more; their rows in *_before are deleted up to `removed_seq`.
CREATE TABLE given_up (workspace_pk INTEGER PRIMARY KEY, removed_seq BIGINT NOT NULL, until_seq BIGINT NOT NULL) STRICT;

-- How far each stream has landed; moves in the transaction that writes the rules.
CREATE TABLE positions (
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  next_offset BIGINT NOT NULL,
  PRIMARY KEY (stream_id, "partition")
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at BIGINT NOT NULL,
  reason TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  record_offset BIGINT NOT NULL,
  timestamp BIGINT NOT NULL,
  key TEXT NOT NULL,              -- a JSON string, like value: a text column cannot have U+0000
  headers TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE INDEX dead_letters_at ON dead_letters (at);
-- Dead letters of one workspace. The key of another producer's record may be longer than an index accepts.
CREATE INDEX dead_letters_key ON dead_letters (substr(key, 1, 40), id);
