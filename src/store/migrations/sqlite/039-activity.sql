-- What happened in a workspace, in slots of a minute (step 1) and of an hour (step 60), counted from 1970.
CREATE TABLE activity (
  workspace_pk INTEGER NOT NULL,
  step INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  landed INTEGER NOT NULL,
  pulls INTEGER NOT NULL,
  not_modified INTEGER NOT NULL,
  PRIMARY KEY (workspace_pk, step, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_slot ON activity (step, slot);
