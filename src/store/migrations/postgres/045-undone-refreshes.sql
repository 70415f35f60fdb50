-- The undo in the list of a source that stands since the list was last made equal to a content (D44.10): its batch, its number, and when it
-- landed. Undos up to the number `equal_seq` no longer count.
ALTER TABLE sources ADD COLUMN undone_by TEXT;
ALTER TABLE sources ADD COLUMN undone_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN undone_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN equal_seq BIGINT NOT NULL DEFAULT 0;
UPDATE sources SET undone_by = state::json ->> 'undone', undone_seq = 1 WHERE state::json ->> 'undone' IS NOT NULL;
