-- Tries in a row that a webhook did not accept (D47.2).
ALTER TABLE webhook_states ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
CREATE INDEX webhook_states_failing ON webhook_states (failures) WHERE failures >= 5;
-- Logout tokens of providers that were accepted, each by its SHA-256 and until when it is valid (D47.9): none is accepted twice.
CREATE TABLE logout_tokens (
  hash BYTEA PRIMARY KEY,
  valid_until BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX logout_tokens_end ON logout_tokens (valid_until);
