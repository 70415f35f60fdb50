/** Which rows the statements of a store look at, as their query plans say. */
import assert from 'node:assert/strict';

/** How a statement finds rows of a table: by which columns of which index; none of them = it looks at every row. */
export interface Search {
  readonly table: string;
  readonly index: string;
  readonly columns: readonly string[];
}

/** Tables that may have very many rows. */
const RULES = ['access_rules', 'waf_rules', 'smart_firewall_rules'];
const BEFORE = RULES.map((table) => `${table}_before`);
const LARGE = [
  ...RULES,
  ...BEFORE,
  'batches',
  'lists',
  'keys',
  'dead_letters',
  'audit',
  'feed_records',
  'feeds',
  'feed_lists',
  'told_networks',
  'bouncers',
  'devices',
  'feed_days',
  'rule_changes',
  'activity',
  'answers',
];
/** An index with one row for each workspace. */
const NARROW = 'lists_default';

/** Whether it looks at every row of a large table, or at every one of a list or a workspace. */
const isBroad = ({ table, index, columns }: Search) =>
  LARGE.includes(table) && index !== NARROW && columns.every((column) => column === 'list_pk' || column === 'workspace_pk');

/** Statements that do so on purpose. */
const MEANT: readonly RegExp[] = [
  // The directory, and the lists of the workspace feed.
  /^SELECT \* FROM lists WHERE workspace_pk = /,
  /^SELECT w\.name AS workspace_name, .* JOIN lists l /,
  /^SELECT pk, id, name, confidence, severity, widen_v4, widen_v6 FROM lists WHERE workspace_pk = /,
  // A snapshot reads the rules of its lists; SQLite reads them list by list.
  /^SELECT (list_pk, )?id, action, levels, .* WHERE list_pk IN /,
  /^SELECT count\(take_rule\(r\.id, r\.action, .* FROM access_rules r WHERE r\.list_pk = /,
  // What a list had, and when; all that it had at an instant.
  /^SELECT (count\(take_rule\()?r\.id, .* FROM \(SELECT r\.id, .* LEFT JOIN \(SELECT DISTINCT c\.id FROM access_rules_before c WHERE c\.list_pk = /,
  /^SELECT (count\(take_rule\(r\.id|id), .* FROM access_rules(_before)? [rb] WHERE [rb]\.list_pk = /,
  // The never-block rules of all lists, by an index that has them apart.
  /^SELECT (count\(take_rule\()?r\.id, 2\S* .* FROM lists l .* r\.action = 1 /,
  // What bouncers were told, only where a workspace has too much of it.
  /^SELECT feed_id, sum\(length\(entries\)\) AS bytes FROM told_networks WHERE workspace_pk = /,
  /^SELECT feed_id, max\(last_pull\) AS at FROM bouncers WHERE workspace_pk = /,
  // What was on a target: each list of a workspace, and in it by an index.
  /^WITH asked \(action, target\) AS .* FROM lists l CROSS JOIN asked a CROSS JOIN access_rules(_before)? /,
  // The names, lists and last batch of a workspace, for the archive and changes of feeds.
  /^SELECT id, (coalesce\(name, prefix\) AS name, NULL AS|name, NULL AS|name,) source_id FROM (feeds|keys|lists) WHERE workspace_pk = /,
  /^SELECT pk, id FROM lists WHERE workspace_pk = \S+ UNION ALL SELECT list_pk, id FROM deleted_lists /,
  /^SELECT last_seq FROM batches WHERE workspace_pk = \S+ ORDER BY first_seq DESC LIMIT 1$/,
  // Counts, and the keys of a workspace: management.
  /^SELECT count\(\*\) AS (lists|keys|feeds) /,
  // Up to MAX_KEYS; the end of an index.
  /^DELETE FROM keys WHERE id = \(SELECT id FROM keys WHERE workspace_pk = /,
  /^SELECT max\(id\) AS id FROM dead_letters$/,
  /^SELECT \(SELECT count\(\*\) FROM lists /,
  /^SELECT \* FROM keys WHERE workspace_pk = /,
  // What is set of a workspace concerns all its lists.
  /^UPDATE lists SET revision = revision \+ 1 WHERE workspace_pk = /,
  // The lists whose never-block rules a large change may overlap.
  /^SELECT pk FROM lists WHERE workspace_pk = \S+ ORDER BY pk$/,
  // The days of the lists of a workspace: management.
  /^SELECT l\.id, l\.name, d\.day, d\.net FROM lists l JOIN feed_days d /,
  // The rules of a list that is restored.
  /^SELECT count\(\*\) AS rules, .* AS now FROM access_rules WHERE list_pk = /,
  // The rules of a list, up to a limit.
  /^SELECT count\(\*\) AS rules FROM \(SELECT 1 AS rule FROM access_rules r WHERE r\.list_pk = /,
  // Up to a limit, or until the first row.
  /^SELECT l\.\*, EXISTS \(SELECT 1 FROM access_rules r WHERE r\.list_pk = l\.pk\) AS has_rules, .* \(SELECT b\.last_seq FROM batches b WHERE b\.workspace_pk = w\.pk ORDER BY b\.first_seq DESC LIMIT 1\) AS last_seq FROM workspaces w LEFT JOIN lists l ON l\.workspace_pk = w\.pk AND l\.id = /,
  /^SELECT id, at FROM audit WHERE workspace_pk = \S+ ORDER BY id LIMIT /,
  /^SELECT \* FROM \(SELECT \* FROM dead_letters ORDER BY id DESC LIMIT /,
  /^SELECT count\(\*\) AS letters /,
  /^DELETE FROM access_rules WHERE .* WHERE list_pk = \S+ LIMIT /,
  /^DELETE FROM access_rules_before WHERE .* WHERE list_pk = \S+ LIMIT /,
  /^DELETE FROM deleted_lists WHERE list_pk = \S+ AND NOT EXISTS /,
  // Lists and feeds with canaries, by an index that has them apart; the keys of a workspace when one starts.
  /^SELECT \* FROM \(SELECT w\.\*, .* c\.canary_keys IS NOT NULL LIMIT 1\)/,
  /^SELECT '' AS id, canary_keys, canary_minutes FROM workspaces WHERE pk = .* FROM lists WHERE workspace_pk = \S+ AND canary_keys IS NOT NULL /,
  /^SELECT id, name FROM keys WHERE workspace_pk = \S+ AND revoked_at IS NULL$/,
  // A large change, and what passes it: the lists of a workspace, and in them by an index; its devices, once.
  /^SELECT (id|list_pk, id), .* FROM access_rules(_before)? WHERE list_pk IN \(SELECT pk FROM lists WHERE workspace_pk = \S+\) AND (action = 1 AND id > |changed BETWEEN |id (BETWEEN|IN) )/,
  /^SELECT (\*|key_id) FROM (devices|\(SELECT key_id, last_pull FROM devices) WHERE workspace_pk = \S+ AND key_id IN /,
  /^DELETE FROM feed_records WHERE workspace_pk = \S+ AND list_pk = /,
  // Whether a list that is deleted has a rule of before yesterday: they come first.
  /^SELECT id FROM access_rules WHERE list_pk = \S+ AND created_at < /,
  // Whether a list has any rule: the first one of an index.
  /^SELECT pk, id FROM lists l .* AND EXISTS \(SELECT 1 FROM access_rules r WHERE r\.list_pk = l\.pk\) ORDER BY pk$/,
  // An undo may have kept rules in any list of its workspace.
  /^DELETE FROM access_rules_before WHERE .* b JOIN lists l ON l\.workspace_pk = b\.workspace_pk /,
  // A thousand keys at a time.
  /^WITH used \(id, at\) AS .* UPDATE keys /,
  // The end of an index.
  /^SELECT \(SELECT max\(id\) FROM audit\) AS audit, /,
  // The bouncers of a workspace: management.
  /^SELECT key_id,.* FROM bouncers WHERE workspace_pk = /,
  // Whether there are too many of them, once a minute for each 200 that were seen.
  /^SELECT workspace_pk, count\(\*\) AS count FROM bouncers GROUP BY workspace_pk$/,
  /^DELETE FROM bouncers WHERE workspace_pk = \S+ AND \(key_id, user_agent, address\) IN /,
  // The few records of one list or feed that is deleted or set, and its days.
  /^DELETE FROM feed_days WHERE .*list_pk = /,
  /^DELETE FROM feed_records WHERE list_pk = /,
  /^UPDATE feed_records SET since = /,
  // A record is dated no earlier than the others of its feed.
  /^INSERT INTO feed_records AS stored .* max\(since\) FROM feed_records WHERE workspace_pk = w\.pk AND list_pk = /,
  // The feeds of a workspace with their lists: management.
  /^SELECT f\.\* FROM workspaces w JOIN feeds f /,
  /^SELECT m\.feed_pk, m\.is_always, l\.id FROM feed_lists m JOIN feeds f .* WHERE f\.workspace_pk = /,
  // The few feeds of a workspace.
  /^SELECT pk, name, all_lists FROM feeds WHERE workspace_pk = \S+ AND name IN /,
  // Those whose lists have to agree: a source that is changed.
  /^UPDATE feeds SET revision = revision \+ 1 WHERE workspace_pk = /,
  // The feeds that have a list which is deleted.
  /^UPDATE feeds SET revision = .* WHERE list_pk = /,
  /^DELETE FROM feed_lists WHERE list_pk = /,
  // Where all devices are too many: how many each workspace has.
  /^SELECT workspace_pk(, count\(\*\) AS devices)? FROM devices GROUP BY workspace_pk/,
  /^INSERT INTO deleted_members .* FROM feed_lists WHERE list_pk = /,
  // Beyond the devices that are kept, counted along an index.
  /^DELETE FROM devices WHERE workspace_pk = .* OFFSET /,
  /^DELETE FROM devices WHERE last_pull < \(SELECT last_pull FROM devices ORDER BY .* OFFSET /,
  // Devices that are watched: counted once a minute.
  /^SELECT count\(\*\) AS devices FROM devices WHERE due_at IS NOT NULL$/,
  // SQLite names the children of a new row, which it looks at only where a foreign key is broken already.
  /^INSERT INTO workspaces /,
];

/** Fails when a statement looks at more of a large table than the rows that it is about, but for those that are meant to. */
export function assertPlans(statements: Iterable<readonly [text: string, searches: readonly Search[]]>): void {
  const wide: string[] = [];
  for (const [text, searches] of statements) {
    const folded = text.replaceAll(/\s+/g, ' ').trim();
    const tables = new Set(searches.filter(isBroad).map(({ table }) => table));
    if (tables.size > 0 && !MEANT.some((pattern) => pattern.test(folded))) wide.push(`${[...tables].sort()}: ${folded.slice(0, 300)}`);
  }
  assert.deepEqual(wide, []);
}
