-- Canaries (D65): keys that receive large changes first, and the state of a freeze that a large change began. `until_at`: its end, ms; null: a
-- person ends it. `frozen_changes`: small changes since, by the number of their last item.
ALTER TABLE lists ADD COLUMN canary_keys TEXT;
ALTER TABLE lists ADD COLUMN canary_minutes INTEGER;
ALTER TABLE feeds ADD COLUMN canary_keys TEXT;
ALTER TABLE feeds ADD COLUMN canary_minutes INTEGER;
CREATE INDEX lists_canary ON lists (workspace_pk) WHERE canary_keys IS NOT NULL;
CREATE INDEX feeds_canary ON feeds (workspace_pk) WHERE canary_keys IS NOT NULL;
ALTER TABLE freezes ADD COLUMN canary TEXT;
ALTER TABLE freezes ADD COLUMN until_at BIGINT;
CREATE TABLE frozen_changes (
  freeze_pk BIGINT NOT NULL REFERENCES freezes (pk),
  part INTEGER NOT NULL,
  seq BIGINT NOT NULL,
  piece INTEGER NOT NULL,
  rules BYTEA NOT NULL,
  PRIMARY KEY (freeze_pk, part, seq, piece)
) STRICT, WITHOUT ROWID;
