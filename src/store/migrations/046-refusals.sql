-- The documents that a device was refused last (D45.3), as JSON; and what a bouncer was refused last, NULL: it was answered.
ALTER TABLE devices ADD COLUMN refusals TEXT NOT NULL DEFAULT '[]';
ALTER TABLE bouncers ADD COLUMN refusal TEXT;
-- Polls that were refused (4xx), of all polls.
ALTER TABLE activity ADD COLUMN refused BIGINT NOT NULL DEFAULT 0;
-- What the entries of a batch did (D45.13), as a sum of flags; NULL: it landed before this was noted.
ALTER TABLE batches ADD COLUMN did SMALLINT;
