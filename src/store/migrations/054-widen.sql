-- Prefix lengths of the networks as which block feeds serve blocked hosts.
ALTER TABLE lists ADD COLUMN widen_v4 INTEGER;
ALTER TABLE lists ADD COLUMN widen_v6 INTEGER;
ALTER TABLE feeds ADD COLUMN widen_v4 INTEGER;
ALTER TABLE feeds ADD COLUMN widen_v6 INTEGER;
