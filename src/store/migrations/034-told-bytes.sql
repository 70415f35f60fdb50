-- What a workspace takes of what bouncers were told (D14.16).
INSERT INTO taken_bytes SELECT 'told', workspace_pk, sum(length(entries)) FROM told_networks GROUP BY workspace_pk;
