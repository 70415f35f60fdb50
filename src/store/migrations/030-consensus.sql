-- How lists make a feed: how many have to agree, the order of the lists, which are enough by themselves, and what is left out to hold the cap.
ALTER TABLE feeds ADD COLUMN min_sources INTEGER;
ALTER TABLE feeds ADD COLUMN fit TEXT;
ALTER TABLE feeds ADD COLUMN fits TEXT;  -- by variant, as JSON: where what is left out begins
-- A feed of all lists has rows for those that are enough by themselves.
ALTER TABLE feed_lists ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed_lists ADD COLUMN is_always INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deleted_members ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deleted_members ADD COLUMN is_always INTEGER NOT NULL DEFAULT 0;
