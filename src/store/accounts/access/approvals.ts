/** SPEC D67. */
import type { Author } from '../../../account/caller.ts';
import { DAY } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import {
  type Approval,
  type ApprovalReads,
  type ApprovalState,
  type ApprovalWrites,
  type Decision,
  MOST_APPROVALS,
  MOST_PENDING,
  MOST_PENDING_BYTES,
} from '../../../ports/stored/approval-store.ts';
import { WORKSPACE_PK } from '../../row-ids.ts';
import { type Row, textOrNull } from '../../rows.ts';
import { noteRemoved } from '../../usage/recent-addresses.ts';
import { all, allOf, type Changes, one, type Reads, run, type Work } from '../../work.ts';
import { create, holdWorkspace } from '../account-statements.ts';
import { audit } from '../audit.ts';

const COLUMNS = 'id, operation, why, addresses, blocked, rules, hash, author, approvers, state, reason, created_at, expires_at';
const OF_ID = `FROM approvals WHERE workspace_pk = ${WORKSPACE_PK} AND id = $2`;
/** Of decided requests, ms. */
const RETENTION = 30 * DAY;

const approvalOf = (row: Row): Approval => ({
  id: String(row.id),
  operation: String(row.operation),
  why: String(row.why),
  addresses: Number(row.addresses),
  blocked: Number(row.blocked),
  rules: Number(row.rules),
  hash: String(row.hash),
  by: JSON.parse(String(row.author)) as Author,
  approvers: JSON.parse(String(row.approvers)) as string[],
  state: row.state as ApprovalState,
  reason: textOrNull(row.reason),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
});

function* found(workspaceId: string, id: string): Work<Approval> {
  const row = yield* one(`SELECT ${COLUMNS} ${OF_ID}`, workspaceId, id);
  if (row === undefined) throw new WeirError('NOT_FOUND', `there is no approval request "${id}"`);
  return approvalOf(row);
}

function* sweep(now: string, workspacePk: number): Work<void> {
  yield* run(
    `UPDATE approvals SET state = 'expired', content = NULL, bytes = 0 WHERE workspace_pk = $1 AND state = 'pending' AND expires_at <= ${now}`,
    workspacePk,
  );
  yield* run(
    `DELETE FROM approvals WHERE workspace_pk = $1 AND state NOT IN ('pending', 'approved') AND (expires_at < ${now} - $2 OR pk <=
      (SELECT pk FROM approvals WHERE workspace_pk = $1 ORDER BY pk DESC LIMIT 1 OFFSET ${MOST_APPROVALS - 1}))`,
    workspacePk,
    RETENTION,
  );
}

export const approvalReads = {
  *approvals(workspaceId) {
    return (yield* all(`SELECT ${COLUMNS} FROM approvals WHERE workspace_pk = ${WORKSPACE_PK} ORDER BY pk DESC`, workspaceId)).map(
      approvalOf,
    );
  },
  *approval(workspaceId, id) {
    const row = yield* one(`SELECT ${COLUMNS} ${OF_ID}`, workspaceId, id);
    return row && approvalOf(row);
  },
  *approvalContent(workspaceId, id) {
    const content = (yield* one(`SELECT content ${OF_ID}`, workspaceId, id))?.content;
    return content == null ? undefined : (content as Uint8Array);
  },
  *unappliedApprovals(before) {
    const text = `SELECT w.id AS workspace_id, a.id FROM approvals a JOIN workspaces w ON w.pk = a.workspace_pk
      WHERE a.state = 'approved' AND a.touched_at < $1 ORDER BY a.touched_at LIMIT 10`;
    return (yield* all(text, before)).map((row) => ({ workspaceId: String(row.workspace_id), id: String(row.id) }));
  },
  *approvingWorkspaces(ids) {
    const rows = yield* allOf(ids, (places) => `SELECT id FROM workspaces WHERE approval <> 'none' AND id IN (${places})`);
    return rows.map(({ id }) => String(id));
  },
  *waitingApprovals(workspaceId, now) {
    const text = `SELECT count(*) AS requests FROM approvals WHERE workspace_pk = ${WORKSPACE_PK} AND state = 'pending' AND expires_at > $2`;
    return Number((yield* one(text, workspaceId, now))?.requests);
  },
  *isApplied(id) {
    const text = 'SELECT u.id FROM approvals a JOIN audit u ON u.at >= a.approved_at AND u.act = a.id WHERE a.id = $1 LIMIT 1';
    return (yield* one(text, id)) !== undefined;
  },
} satisfies Reads<Omit<ApprovalReads, 'unapprovedAddresses'>>;

const STATES: Readonly<Record<Decision, ApprovalState>> = {
  approve: 'approved',
  force: 'approved',
  reject: 'rejected',
  withdraw: 'withdrawn',
};
const EVENTS: Readonly<Record<Decision, string>> = {
  approve: 'change approved',
  force: 'change forced',
  reject: 'change rejected',
  withdraw: 'change withdrawn',
};

/** People behind a change: two are needed. */
const PEOPLE = 2;

/** REFUSED: a person who stands behind it already. */
function approversWith({ by, approvers }: Approval, person: string | null | undefined): readonly string[] {
  if (person == null) throw new WeirError('FORBIDDEN', 'only signed-in people approve changes: keys and commands cannot');
  if (person === by.personId) throw new WeirError('FORBIDDEN', 'you requested this change: another person has to approve it');
  if (approvers.includes(person)) throw new WeirError('REFUSED', 'you have approved this change: another person has to approve it too');
  return [...approvers, person];
}

const audited = ({ operation, why, hash, approvers, reason }: Approval) => ({ name: why, operation, hash, approvers, reason });

export const approvalChanges = {
  noteRemoved,
  *requestApproval(now, workspaceId, { id, by, content, operation, why, addresses, blocked, rules, hash }, lifetime) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    yield* sweep(now, workspacePk);
    const author = JSON.stringify(by);
    const same = yield* one(
      `SELECT ${COLUMNS} FROM approvals WHERE workspace_pk = $1 AND state = 'pending' AND hash = $2 AND author = $3`,
      workspacePk,
      hash,
      author,
    );
    if (same !== undefined) return approvalOf(same);
    const pending = yield* one(
      "SELECT count(*) AS requests, sum(bytes) AS bytes FROM approvals WHERE workspace_pk = $1 AND state IN ('pending', 'approved')",
      workspacePk,
    );
    if (Number(pending?.requests) >= MOST_PENDING)
      throw new WeirError(
        'REFUSED',
        `${why}, and ${MOST_PENDING} changes of the workspace wait for approval, its limit: decide or withdraw some`,
      );
    if (Number(pending?.bytes ?? 0) + content.length > MOST_PENDING_BYTES)
      throw new WeirError(
        'REFUSED',
        `${why}, and changes that wait for approval have at most 64 MiB per workspace: decide or withdraw some`,
      );
    const at = yield* one(`SELECT ${now} AS at`);
    const row = yield* create(now, 'approvals', {
      ...{ workspace_pk: workspacePk, id, operation, why, addresses, blocked, rules, hash, content, bytes: content.length, author },
      ...{ approvers: '[]', state: 'pending', expires_at: Number(at?.at) + lifetime, touched_at: 0 },
    });
    const made = approvalOf(row);
    yield* audit(now, 'approval requested', id, { workspacePk, by, change: { before: null, after: audited(made) } });
    return made;
  },
  *decideApproval(now, workspaceId, id, decision, reason, by) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    yield* sweep(now, workspacePk);
    const before = yield* found(workspaceId, id);
    if (before.state !== 'pending') throw new WeirError('REFUSED', `the change is ${before.state}: it does not wait for approval`);
    const approvers = decision === 'approve' ? approversWith(before, by.personId) : before.approvers;
    const people = approvers.length + (before.by.personId == null ? 0 : 1);
    const state = decision === 'approve' && people < PEOPLE ? 'pending' : STATES[decision];
    const isOver = state === 'rejected' || state === 'withdrawn';
    yield* run(
      `UPDATE approvals SET state = $2, approvers = $3, reason = $4, touched_at = ${now}${isOver ? ', content = NULL, bytes = 0' : ''}${
        state === 'approved' ? `, approved_at = ${now}` : ''
      } WHERE id = $1`,
      id,
      state,
      JSON.stringify(approvers),
      reason,
    );
    const made = yield* found(workspaceId, id);
    yield* audit(now, EVENTS[decision], id, { workspacePk, by, change: { before: null, after: audited(made) } });
    return made;
  },
  *touchApproval(now, workspaceId, id, before) {
    yield* holdWorkspace(workspaceId);
    const row = yield* one(
      `UPDATE approvals SET touched_at = ${now} WHERE workspace_pk = ${WORKSPACE_PK} AND id = $2 AND state = 'approved' AND touched_at < $3 RETURNING id`,
      workspaceId,
      id,
      before,
    );
    return row !== undefined;
  },
  *askAgain(now, workspaceId, id, { why, addresses, blocked, rules }) {
    yield* holdWorkspace(workspaceId);
    yield* run(
      `UPDATE approvals SET why = $2, addresses = $3, blocked = $4, rules = $5, approvers = '[]', touched_at = ${now} WHERE id = $1 AND state = 'pending'`,
      ...[id, why, addresses, blocked, rules],
    );
    return yield* found(workspaceId, id);
  },
  *endApproval(now, workspaceId, id, state, reason) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    const ended = yield* run(
      `UPDATE approvals SET state = $2, reason = coalesce($3, reason), content = NULL, bytes = 0 WHERE id = $1 AND state = 'approved'`,
      ...[id, state, reason],
    );
    if (ended === 1) yield* audit(now, `change ${state}`, id, { workspacePk, change: { before: null, after: { reason } } });
  },
} satisfies Changes<ApprovalWrites>;
