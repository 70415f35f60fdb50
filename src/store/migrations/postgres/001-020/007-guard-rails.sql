-- What no block of a workspace may reach (networks and names, separated by commas; empty = nothing), the shortest prefixes that a block may have,
-- and whether never-block rules are cut out of block feeds.
ALTER TABLE workspaces ADD COLUMN protect TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN min_prefix_v4 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN min_prefix_v6 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workspaces ADD COLUMN subtract_allow TEXT NOT NULL DEFAULT 'off';
ALTER TABLE lists ADD COLUMN subtract_allow TEXT;
