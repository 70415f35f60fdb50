-- What bouncers told to have dropped on a day: packets and requests, and bytes.
ALTER TABLE feed_days ADD COLUMN hits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE feed_days ADD COLUMN hit_bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX feed_days_hits ON feed_days (workspace_pk, day) WHERE hits > 0;

-- Windows of time that were counted: what comes again is not counted again.
CREATE TABLE hit_windows (
  workspace_pk INTEGER NOT NULL,
  digest TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX hit_windows_at ON hit_windows (workspace_pk, at);
CREATE INDEX hit_windows_old ON hit_windows (at);
