-- When a bouncer pulled the stream last, ms; null: it looks addresses up.
ALTER TABLE bouncers ADD COLUMN last_stream BIGINT;
