/** Many workspaces with rules and keys, written straight into the embedded store. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { keyParts } from '../../src/account/key.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { scattered } from './fill.ts';

interface Workspaces {
  readonly workspaces: number;
  /** Blocked hosts of each workspace. */
  readonly rules: number;
  /** Keys that send signals and read feeds, given to the workspaces in turn. */
  readonly keys: readonly string[];
}

/** Makes a store of these in an empty folder. */
export async function fillWorkspaces(dir: string, { workspaces, rules, keys }: Workspaces): Promise<void> {
  await (await openSqliteStore(dir)).close();
  const db = openDatabase(join(dir, 'weir.db'));
  const now = Date.now();
  db.exec('BEGIN');
  db.prepare("INSERT INTO organizations VALUES (1, ?, 'bench', 'active', ?)").run(randomUUID(), now);
  const workspace = db.prepare('INSERT INTO workspaces (pk, id, organization_pk, name, created_at) VALUES (?, ?, 1, ?, ?)');
  const list = db.prepare("INSERT INTO lists (id, workspace_pk, name, is_default, created_at) VALUES (?, ?, 'default', 1, ?)");
  const rule = db.prepare(
    'INSERT INTO access_rules (list_pk, id, action, v4, levels, target, created_at, updated_at) VALUES (?, ?, 0, ?, 0, ?, ?, ?)',
  );
  const key = db.prepare(
    "INSERT INTO keys (id, hash, prefix, workspace_pk, permissions, created_at) VALUES (?, ?, 'bench', ?, 'signal:write feed:read', ?)",
  );
  // The rules came in one batch: what has changed since is known.
  const batch = db.prepare(
    'INSERT INTO batches (workspace_pk, list_pk, first_seq, last_seq, received_at, landed_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (let w = 1; w <= workspaces; w += 1) {
    workspace.run(w, randomUUID(), `workspace ${w}`, now);
    list.run(randomUUID(), w, now);
    batch.run(w, w, w * rules, (w + 1) * rules - 1, now, now);
    for (let r = 0; r < rules; r += 1) rule.run(w, w * rules + r, scattered(w * rules + r) * 64 + 32, `t${r}`, now, now);
  }
  for (const [n, text] of keys.entries()) key.run(randomUUID(), keyParts(text).hash, (n % workspaces) + 1, now);
  db.prepare("UPDATE counters SET value = ? WHERE name = 'rule_id'").run((workspaces + 1) * rules);
  db.exec('COMMIT');
  db.close();
}
