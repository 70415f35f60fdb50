-- Whether an undo of the batch stands (D9.3), so that its changes and that undo's count for nothing to whoever undoes an earlier one.
ALTER TABLE batches ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
