-- Tries in a row that a webhook did not accept (D47.2).
ALTER TABLE webhook_states ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
CREATE INDEX webhook_states_failing ON webhook_states (failures) WHERE failures >= 5;
