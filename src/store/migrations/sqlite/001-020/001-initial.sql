-- Times are milliseconds since 1970. UUIDs live in the small tables only; rules carry integers.

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('key_revision', 1), ('rule_id', 0);

CREATE TABLE organizations (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  subscription TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  organization_pk INTEGER NOT NULL REFERENCES organizations (pk),
  name TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE lists (
  pk INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  name TEXT NOT NULL,
  description TEXT,
  is_default INTEGER NOT NULL,
  format TEXT,
  family TEXT,
  action TEXT,
  max_entries INTEGER,
  confidence TEXT,
  severity TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX lists_workspace ON lists (workspace_pk);
CREATE UNIQUE INDEX lists_default ON lists (workspace_pk) WHERE is_default = 1;

-- Lists whose rules still have to be swept away.
CREATE TABLE deleted_lists (list_pk INTEGER PRIMARY KEY) STRICT;

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  list_id TEXT,
  name TEXT,
  permissions TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Clustered by list, so that a feed reads its rules in one sweep. The columns that a feed reads come first.
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
  PRIMARY KEY (list_pk, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX access_rules_ref ON access_rules (list_pk, rule_ref) WHERE rule_ref IS NOT NULL;
CREATE UNIQUE INDEX access_rules_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NULL;
CREATE INDEX access_rules_ref_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NOT NULL;
-- Ids only grow, so this costs next to nothing; lapsing rules are asked for by id.
CREATE INDEX access_rules_id ON access_rules (id);
CREATE INDEX access_rules_expiry ON access_rules (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE waf_rules (
  workspace_pk INTEGER NOT NULL,
  rule_ref TEXT NOT NULL,
  id INTEGER NOT NULL,
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
  PRIMARY KEY (workspace_pk, rule_ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX waf_rules_expiry ON waf_rules (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE smart_firewall_rules (
  workspace_pk INTEGER NOT NULL,
  rule_ref TEXT NOT NULL,
  id INTEGER NOT NULL,
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
  PRIMARY KEY (workspace_pk, rule_ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX smart_firewall_rules_expiry ON smart_firewall_rules (expires_at) WHERE expires_at IS NOT NULL;

-- How far each stream has landed here; moves in the transaction that writes the rules.
CREATE TABLE positions (
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  PRIMARY KEY (stream_id, "partition")
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  record_offset INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  key TEXT NOT NULL,
  headers TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE INDEX dead_letters_at ON dead_letters (at);

-- When each representation's content first appeared (Last-Modified). list_pk 0 is the workspace feed.
CREATE TABLE feed_records (
  workspace_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  format TEXT NOT NULL,
  family TEXT NOT NULL,
  action TEXT NOT NULL,
  hash TEXT NOT NULL,
  snapshot_at INTEGER NOT NULL,
  since INTEGER NOT NULL,         -- whole seconds
  PRIMARY KEY (workspace_pk, list_pk, format, family, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  object TEXT NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);
