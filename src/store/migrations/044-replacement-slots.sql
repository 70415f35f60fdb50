-- Whose limit a replacement counts against: contents in parts, imports and sources have slots of their own.
ALTER TABLE replacements ADD COLUMN slot TEXT NOT NULL DEFAULT 'parts';
