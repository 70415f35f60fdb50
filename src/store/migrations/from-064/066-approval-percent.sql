-- Changes of more percent of a list's rules wait for a second person (D67.14); null: any share.
ALTER TABLE workspaces ADD COLUMN approval_percent INTEGER;
