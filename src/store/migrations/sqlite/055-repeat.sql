-- Targets that were blocked, for lists whose further blocks last longer.
ALTER TABLE lists ADD COLUMN repeat TEXT;
CREATE TABLE repeat_blocks (
  list_pk INTEGER NOT NULL,
  target TEXT NOT NULL,
  blocks INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  blocks_before INTEGER NOT NULL,
  ends_before INTEGER NOT NULL,
  PRIMARY KEY (list_pk, target)
) STRICT, WITHOUT ROWID;
