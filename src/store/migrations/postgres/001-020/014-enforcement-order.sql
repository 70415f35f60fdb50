-- Management reads expression rules in the order of enforcement, page by page.
CREATE INDEX waf_rules_order ON waf_rules (workspace_pk, "order", rule_ref);
CREATE INDEX smart_firewall_rules_order ON smart_firewall_rules (workspace_pk, "order", rule_ref);
-- A workspace sees its own dead letters only. The key of a foreign record may be longer than an index takes.
CREATE INDEX dead_letters_key ON dead_letters (substr(key, 1, 40), id);
