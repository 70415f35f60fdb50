-- The undos of a workspace behind a place (D27.3).
CREATE INDEX batches_undos ON batches (workspace_pk, first_seq) WHERE undoes IS NOT NULL;
