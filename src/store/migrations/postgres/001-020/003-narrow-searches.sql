-- Deleting a list looks at its own keys and feed records only.
CREATE INDEX keys_list ON keys (list_id) WHERE list_id IS NOT NULL;
CREATE INDEX feed_records_list ON feed_records (list_pk);
-- Lapsing rules are asked for by id. Ids only grow, so this costs next to nothing.
CREATE INDEX access_rules_id ON access_rules (id);
