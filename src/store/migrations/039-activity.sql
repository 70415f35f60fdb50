-- What happened in a workspace, in slots of a minute (step 1) and of an hour (step 60), counted from 1970.
CREATE TABLE activity (
  workspace_pk BIGINT NOT NULL,
  step BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  accepted BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  landed BIGINT NOT NULL,
  pulls BIGINT NOT NULL,
  not_modified BIGINT NOT NULL,
  PRIMARY KEY (workspace_pk, step, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_slot ON activity (step, slot);
