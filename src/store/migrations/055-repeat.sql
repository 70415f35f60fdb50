-- Targets that were blocked, for lists whose further blocks last longer.
ALTER TABLE lists ADD COLUMN repeat TEXT;
CREATE TABLE repeat_blocks (
  list_pk INTEGER NOT NULL,
  target TEXT NOT NULL,
  blocks INTEGER NOT NULL,
  ends_at BIGINT NOT NULL,
  sent BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  blocks_before INTEGER NOT NULL,
  ends_before BIGINT NOT NULL,
  PRIMARY KEY (list_pk, target)
) STRICT, WITHOUT ROWID;
