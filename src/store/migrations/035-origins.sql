-- Whether bouncers are told of which list each network is.
ALTER TABLE lists ADD COLUMN origins TEXT;
ALTER TABLE feeds ADD COLUMN origins TEXT;
