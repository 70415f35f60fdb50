-- Times are milliseconds since 1970. UUIDs live in the small tables only, as text, so that any text may be asked for;
-- rules carry integers. COLLATE "C": names that machines compare, the same on every server.
-- Who changes the rules or lists of a workspace holds its row until the commit.

CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counters VALUES ('key_revision', 1);

-- Shared by the three kinds of rule; never goes back.
CREATE SEQUENCE rule_ids AS BIGINT;

CREATE TABLE organizations (
  pk INTEGER PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  subscription TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE workspaces (
  pk INTEGER PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  organization_pk INTEGER NOT NULL REFERENCES organizations (pk),
  name TEXT NOT NULL,
  revision BIGINT NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL
);

CREATE TABLE lists (
  pk INTEGER PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id TEXT NOT NULL UNIQUE,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  name TEXT NOT NULL,
  description TEXT,
  is_default SMALLINT NOT NULL,
  format TEXT,
  family TEXT,
  action TEXT,
  max_entries INTEGER,
  confidence TEXT,
  severity TEXT,
  revision BIGINT NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL
);
CREATE INDEX lists_workspace ON lists (workspace_pk);
CREATE UNIQUE INDEX lists_default ON lists (workspace_pk) WHERE is_default = 1;

-- Lists whose rules still have to be swept away.
CREATE TABLE deleted_lists (list_pk INTEGER PRIMARY KEY);

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  workspace_pk INTEGER NOT NULL REFERENCES workspaces (pk),
  list_id TEXT,
  name TEXT,
  permissions TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT,
  last_used_at BIGINT
);
CREATE INDEX keys_workspace ON keys (workspace_pk);

-- The columns of fixed width come first: no padding.
CREATE TABLE access_rules (
  id BIGINT NOT NULL DEFAULT nextval('rule_ids'),
  v4 BIGINT,                      -- first address × 64 + prefix length
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  list_pk INTEGER NOT NULL,
  action SMALLINT NOT NULL,       -- 0 block, 1 allow
  levels SMALLINT NOT NULL,       -- confidence × 5 + severity, each 0 = unset, 1 = low … 4 = critical
  v6 BYTEA,                       -- 16 bytes of the first address, one of the prefix length
  target TEXT COLLATE "C" NOT NULL, -- canonical text
  rule_ref TEXT COLLATE "C",
  name TEXT,
  reason TEXT,
  labels TEXT,
  config TEXT,
  PRIMARY KEY (list_pk, id)
);
CREATE UNIQUE INDEX access_rules_ref ON access_rules (list_pk, rule_ref) WHERE rule_ref IS NOT NULL;
CREATE UNIQUE INDEX access_rules_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NULL;
CREATE INDEX access_rules_ref_value ON access_rules (list_pk, action, target) WHERE rule_ref IS NOT NULL;
CREATE INDEX access_rules_expiry ON access_rules (expires_at) WHERE expires_at IS NOT NULL;

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
  PRIMARY KEY (workspace_pk, rule_ref)
);
CREATE INDEX waf_rules_expiry ON waf_rules (expires_at) WHERE expires_at IS NOT NULL;

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
  PRIMARY KEY (workspace_pk, rule_ref)
);
CREATE INDEX smart_firewall_rules_expiry ON smart_firewall_rules (expires_at) WHERE expires_at IS NOT NULL;

-- How far each stream has landed here; moves in the transaction that writes the rules.
CREATE TABLE positions (
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  next_offset BIGINT NOT NULL,
  PRIMARY KEY (stream_id, "partition")
);

CREATE TABLE dead_letters (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at BIGINT NOT NULL,
  reason TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  "partition" INTEGER NOT NULL,
  record_offset BIGINT NOT NULL,
  timestamp BIGINT NOT NULL,
  key TEXT NOT NULL,              -- a JSON string, like value: what is poison may hold U+0000, which no text column can
  headers TEXT NOT NULL,
  value TEXT NOT NULL
);
CREATE INDEX dead_letters_at ON dead_letters (at);

-- When each representation's content first appeared (Last-Modified). list_pk 0 is the workspace feed.
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
);

CREATE TABLE audit (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at BIGINT NOT NULL,
  event TEXT NOT NULL,
  object TEXT NOT NULL
);
CREATE INDEX audit_at ON audit (at);
