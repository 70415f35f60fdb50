import { MOST_SNOOZES, type Snooze } from '../../account/snooze.ts';
import { WeirError } from '../../errors.ts';
import type { SnoozeReads, SnoozeWrites } from '../../ports/stored/snooze-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, type Changes, one, type Reads, run } from '../work.ts';
import { findWorkspace, holdWorkspace } from './account-statements.ts';
import { audit } from './audit.ts';

const snoozeOf = (row: Row): Snooze => ({
  id: String(row.id),
  key: String(row.item),
  state: String(row.state),
  text: String(row.said),
  reason: String(row.reason),
  since: Number(row.since),
  until: Number(row.ends_at),
  by: {
    keyId: row.key_id === null ? null : String(row.key_id),
    actor: row.actor === null ? null : String(row.actor),
    ...(row.person !== null && { personId: String(row.person) }),
  },
});

const audited = ({ text, reason, until }: Snooze) => ({ name: text, reason, until: new Date(until).toISOString() });

export const snoozeReads = {
  *snoozes(workspaceId, now) {
    const text = `SELECT * FROM snoozes WHERE workspace_pk = ${WORKSPACE_PK} AND ends_at > $2 ORDER BY since, id`;
    return (yield* all(text, workspaceId, now)).map(snoozeOf);
  },
} satisfies Reads<SnoozeReads>;

export const snoozeChanges = {
  *snooze(now, workspaceId, { id, key, state, text, reason, until }, by, most = MOST_SNOOZES) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    yield* run(`DELETE FROM snoozes WHERE workspace_pk = $1 AND (ends_at <= ${now} OR item = $2)`, workspacePk, key);
    const there = yield* one('SELECT count(*) AS snoozes FROM snoozes WHERE workspace_pk = $1', workspacePk);
    if (Number(there?.snoozes) >= most) throw new WeirError('REFUSED', `the workspace has ${most} snoozed alerts, its limit: end one`);
    const row = yield* one(
      `INSERT INTO snoozes (id, workspace_pk, item, state, said, reason, since, ends_at, key_id, actor, person)
       VALUES ($1, $2, $3, $4, $5, $6, ${now}, $7, $8, $9, $10) RETURNING *`,
      ...[id, workspacePk, key, state, text, reason, until, by.keyId, by.actor, by.personId ?? null],
    );
    const snooze = snoozeOf(row!);
    yield* audit(now, 'attention snoozed', id, { workspacePk, by, change: { before: null, after: audited(snooze) } });
    return snooze;
  },
  *endSnooze(now, workspaceId, id, by) {
    const workspacePk = yield* findWorkspace(workspaceId);
    const row = yield* one(`DELETE FROM snoozes WHERE workspace_pk = $1 AND id = $2 AND ends_at > ${now} RETURNING *`, workspacePk, id);
    if (row === undefined) throw new WeirError('NOT_FOUND', `there is no snooze ${JSON.stringify(id)}`);
    yield* audit(now, 'attention snooze ended', id, { workspacePk, by, change: { before: audited(snoozeOf(row)), after: null } });
  },
} satisfies Changes<SnoozeWrites>;
