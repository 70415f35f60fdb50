-- The days of feeds have the words that users see.
ALTER TABLE feed_days RENAME COLUMN came TO added;
ALTER TABLE feed_days RENAME COLUMN lapsed TO expired;
ALTER TABLE feed_days RENAME COLUMN deleted TO removed;
UPDATE counters SET name = 'expired_until' WHERE name = 'lapsed_until';
