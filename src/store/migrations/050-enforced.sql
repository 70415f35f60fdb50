-- The networks that a bouncer enforces by its last report (D50.6), as JSON; NULL: it reports none.
ALTER TABLE bouncers ADD COLUMN enforced TEXT;
