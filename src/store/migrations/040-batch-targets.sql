-- Whether the entries of a batch concern access rules, which are in lists (D38.1): 1 or 0; NULL: an undo, or it landed before this was noted.
ALTER TABLE batches ADD COLUMN has_targets SMALLINT;
