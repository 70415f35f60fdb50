-- When a bouncer's firewall last had other networks than its feed, ms; NULL: by no report (D50.6).
ALTER TABLE bouncers ADD COLUMN differed_at BIGINT;
