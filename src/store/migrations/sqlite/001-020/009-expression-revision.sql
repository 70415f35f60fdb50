-- Moves with the WAF and smart firewall rules of a workspace; `revision` moves with its access rules, lists and settings.
ALTER TABLE workspaces ADD COLUMN expression_revision INTEGER NOT NULL DEFAULT 1;
