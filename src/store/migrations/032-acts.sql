-- Changes that were made together (D28.4) share an id in the audit log.
ALTER TABLE audit ADD COLUMN act TEXT;
