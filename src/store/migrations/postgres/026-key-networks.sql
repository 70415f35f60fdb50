-- The networks that a key is good from, separated by blanks (D24.2); empty: from anywhere.
ALTER TABLE keys ADD COLUMN networks TEXT NOT NULL DEFAULT '';
