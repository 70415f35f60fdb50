-- Deleting a list looks at its own keys and feed records only.
CREATE INDEX keys_list ON keys (list_id) WHERE list_id IS NOT NULL;
CREATE INDEX feed_records_list ON feed_records (list_pk);
