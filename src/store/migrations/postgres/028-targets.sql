-- What enforces a feed, and how it writes addresses.
ALTER TABLE lists ADD COLUMN target TEXT;
ALTER TABLE feeds ADD COLUMN target TEXT;
ALTER TABLE lists ADD COLUMN host_style TEXT;
ALTER TABLE feeds ADD COLUMN host_style TEXT;
