-- Keys that end soon are looked for once a minute.
CREATE INDEX keys_expires ON keys (expires_at) WHERE expires_at IS NOT NULL;
