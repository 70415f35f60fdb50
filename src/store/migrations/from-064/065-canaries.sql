-- Canaries (D65): keys that receive large changes of the workspace's own feed first; the time of a canary's last large change, ms.
ALTER TABLE workspaces ADD COLUMN canary_keys TEXT;
ALTER TABLE workspaces ADD COLUMN canary_minutes INTEGER;
ALTER TABLE freezes ADD COLUMN staged_at BIGINT;
UPDATE freezes SET staged_at = created_at;
