-- What pulls (D16.7): a device is a key, a User-Agent and an address. `documents` is JSON: what it pulled last, and the content it has of each.
CREATE TABLE devices (
  workspace_pk INTEGER NOT NULL,
  id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  first_pull INTEGER NOT NULL,
  last_pull INTEGER NOT NULL,
  pulls INTEGER NOT NULL,
  counted_from INTEGER NOT NULL,  -- its usual interval is the time from here to the last pull, by the pulls since
  counted INTEGER NOT NULL,
  ok INTEGER NOT NULL,
  not_modified INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  last_status INTEGER NOT NULL,
  validates INTEGER NOT NULL,     -- whether it ever sent validators
  documents TEXT NOT NULL,
  patience INTEGER,               -- how long after a pull it counts as stopped, ms; null: it has no usual interval yet
  due_at INTEGER,                 -- last_pull + patience while it pulls
  stopped_at INTEGER,             -- when it was noticed that it had stopped
  PRIMARY KEY (workspace_pk, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_key ON devices (workspace_pk, key_id, id);
CREATE INDEX devices_pull ON devices (workspace_pk, last_pull);
CREATE INDEX devices_last ON devices (last_pull);
CREATE INDEX devices_due ON devices (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX devices_stopped ON devices (stopped_at) WHERE stopped_at IS NOT NULL;

-- What happened on a day (UTC, counted from 1970): of a list (list_pk), of a workspace in all (0), of a composed feed (-pk).
CREATE TABLE feed_days (
  workspace_pk INTEGER NOT NULL,
  list_pk INTEGER NOT NULL,
  day INTEGER NOT NULL,
  came INTEGER NOT NULL DEFAULT 0,
  lapsed INTEGER NOT NULL DEFAULT 0,
  undone INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  last_v4 INTEGER,
  max_v4 INTEGER,
  last_v6 INTEGER,
  max_v6 INTEGER,
  PRIMARY KEY (workspace_pk, list_pk, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_days_day ON feed_days (day);
-- Rules that expired at `lapsed_until` (ms) or before are counted; who writes `devices` holds its row.
INSERT INTO counters VALUES ('lapsed_until', 0), ('devices', 0);
