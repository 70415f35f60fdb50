-- A list is found by its name without a look at the others. It serves the workspace's lists as well.
CREATE INDEX lists_name ON lists (workspace_pk, name);
DROP INDEX lists_workspace;
