import {
  type Announced,
  FAILING_TRIES,
  MOST_WEBHOOKS,
  reusedSecretFault,
  type Webhook,
  type WebhookDelivery,
  type WebhookMessage,
  type WebhookSettings,
  webhookAudit,
  webhookState,
} from '../../account/webhook.ts';
import { WeirError } from '../../errors.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import type { WebhookReads, WebhookState, WebhookWithSecret, WebhookWrites } from '../../ports/stored/webhook-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { type Row, textOrNull } from '../rows.ts';
import { all, type Changes, notify, one, type Reads, run, type Work } from '../work.ts';
import { changeWorkspace, create, noSuch, requireState } from './account-statements.ts';
import { doneOnce } from './answers.ts';
import { audit, auditBehind, changed } from './audit.ts';

const SELECT = 'SELECT h.*, w.id AS workspace_id FROM webhooks h JOIN workspaces w ON w.pk = h.workspace_pk';
const ONE = `${SELECT} WHERE h.id = $2 AND h.workspace_pk = ${WORKSPACE_PK}`;

const encryptedSecretOf = (row: Row): WebhookWithSecret => ({
  ...(JSON.parse(String(row.settings)) as WebhookSettings),
  id: String(row.id),
  workspaceId: String(row.workspace_id),
  hasSecret: row.secret !== null,
  secret: row.secret === null ? null : (row.secret as Uint8Array),
  createdAt: Number(row.created_at),
});

export function* sealedWebhooks(workspaceId: string): Work<WebhookWithSecret[]> {
  return (yield* all(`${SELECT} WHERE w.id = $1 ORDER BY h.pk`, workspaceId)).map(encryptedSecretOf);
}

function webhookOf(row: Row): Webhook {
  const { secret: _, ...webhook } = encryptedSecretOf(row);
  return webhook;
}

const stateOf = (row: Row): WebhookState => ({
  id: String(row.hook_id),
  announced: JSON.parse(String(row.told)) as Announced,
  isWaiting: row.next_at !== null,
  lastAt: Number(row.last_at),
});

const STATES = 'SELECT hook_id, told, next_at, last_at FROM webhook_states';

export const webhookReads = {
  *webhookRevision() {
    return Number((yield* one("SELECT value FROM counters WHERE name = 'webhook_revision'"))?.value);
  },
  *webhooks(workspaceId) {
    return (yield* all(`${SELECT} WHERE w.id = $1 ORDER BY h.pk`, workspaceId)).map(webhookOf);
  },
  *sealedWebhook(workspaceId, id) {
    const row = yield* one(ONE, workspaceId, id);
    return row && encryptedSecretOf(row);
  },
  *subscribedWorkspaces({ after, limit }) {
    const text = `SELECT w.pk, w.id FROM workspaces w WHERE w.pk > $1 AND EXISTS (SELECT 1 FROM webhooks h WHERE h.workspace_pk = w.pk)
      ORDER BY w.pk LIMIT $2`;
    const { items, next } = pageOf(yield* all(text, Number(after ?? 0), limit + 1), limit, ({ pk }) => String(pk));
    return { items: items.map(({ id }) => String(id)), next };
  },
  *webhookStates(workspaceId) {
    if (workspaceId === null) return (yield* all(`${STATES} WHERE hook_id = 'service'`)).map(stateOf);
    const of = `${STATES} WHERE hook_id IN (SELECT id FROM webhooks WHERE workspace_pk = ${WORKSPACE_PK}) ORDER BY hook_id`;
    return (yield* all(of, workspaceId)).map(stateOf);
  },
  *failingWebhooks(workspaceId) {
    const rows = yield* all(
      `SELECT s.hook_id, s.failures, h.settings, w.id AS workspace_id FROM webhook_states s LEFT JOIN webhooks h ON h.id = s.hook_id
       LEFT JOIN workspaces w ON w.pk = h.workspace_pk
       WHERE s.failures >= ${FAILING_TRIES}${workspaceId === null ? '' : ' AND w.id = $1'} ORDER BY s.hook_id`,
      ...(workspaceId === null ? [] : [workspaceId]),
    );
    return rows.map((row) => ({
      id: String(row.hook_id),
      name: row.settings === null ? null : settingsOf(row).name,
      workspaceId: textOrNull(row.workspace_id),
      failures: Number(row.failures),
    }));
  },
  *dueMessages(now, limit) {
    const rows = yield* all(
      `SELECT s.hook_id, s.message, h.*, w.id AS workspace_id FROM webhook_states s LEFT JOIN webhooks h ON h.id = s.hook_id
       LEFT JOIN workspaces w ON w.pk = h.workspace_pk WHERE s.next_at <= $1 ORDER BY s.next_at LIMIT $2`,
      now,
      limit,
    );
    return rows.map((row) => ({
      id: String(row.hook_id),
      webhook: row.workspace_id === null ? undefined : encryptedSecretOf(row),
      message: JSON.parse(String(row.message)) as WebhookMessage,
    }));
  },
  *webhookDeliveries(id) {
    const rows = yield* all('SELECT delivery FROM webhook_deliveries WHERE hook_id = $1 ORDER BY n DESC', id);
    return rows.map(({ delivery }) => JSON.parse(String(delivery)) as WebhookDelivery);
  },
  *happened(workspaceId, after, limit) {
    const rows = yield* all(
      `SELECT first_seq, undoes, landed_at, key_id, actor, person FROM batches
       WHERE workspace_pk = ${WORKSPACE_PK} AND undoes IS NOT NULL AND first_seq > $2 ORDER BY first_seq LIMIT $3`,
      workspaceId,
      after.seq,
      limit,
    );
    const undone = rows.map((row) => ({
      seq: Number(row.first_seq),
      at: Number(row.landed_at),
      batch: String(row.undoes),
      by: byOfBatch(row),
    }));
    return { audit: yield* auditBehind(workspaceId, after.audit, limit), undone };
  },
  *processReports(since) {
    const rows = yield* all('SELECT process, report FROM process_reports WHERE at >= $1 ORDER BY process', since);
    return rows.map(({ process, report }) => ({ process: String(process), report: String(report) }));
  },
} satisfies Reads<WebhookReads>;

const byOfBatch = ({ key_id: keyId, actor, person }: Row) => ({
  keyId: keyId === null ? null : String(keyId),
  actor: actor === null ? null : String(actor),
  ...(person !== null && { personId: String(person) }),
});

type Management = Pick<WebhookWrites, 'createWebhook' | 'updateWebhook' | 'deleteWebhook'>;

export const webhookChanges = {
  *createWebhook(now, workspaceId, { id, secret, ...settings }, { by, once } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const there = (yield* all('SELECT settings FROM webhooks WHERE workspace_pk = $1', workspacePk)).map(settingsOf);
    if (there.length >= MOST_WEBHOOKS) throw new WeirError('REFUSED', `the workspace has ${MOST_WEBHOOKS} webhooks, its limit: delete one`);
    refuseUsed(there, settings.name);
    yield* create(now, 'webhooks', { id, workspace_pk: workspacePk, settings: JSON.stringify(settings), secret });
    const last = yield* one(
      `SELECT (SELECT max(id) FROM audit) AS audit,
         (SELECT max(first_seq) FROM batches WHERE workspace_pk = $1 AND undoes IS NOT NULL) AS seq`,
      workspacePk,
    );
    const announced: Announced = { items: {}, audit: Number(last?.audit ?? 0), seen: [], seq: Number(last?.seq ?? 0) };
    yield* run('INSERT INTO webhook_states (hook_id, told, last_at) VALUES ($1, $2, 0)', id, JSON.stringify(announced));
    const made = yield* found(workspaceId, id);
    yield* audit(now, 'webhook created', id, { workspacePk, by, change: { before: null, after: webhookAudit(made) } });
    yield* doneOnce(now, workspacePk, once, made);
    yield* moveRevision();
    return made;
  },
  *updateWebhook(now, workspaceId, id, { secret, ...patch }, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const before = yield* found(workspaceId, id);
    requireState(webhookState(before), ifMatch);
    const { name, url, style } = { ...before, ...patch };
    // Checked again: the webhook may have changed since it was read.
    const fault = before.hasSecret && secret === undefined ? reusedSecretFault(before, { name, url, style }) : undefined;
    if (fault !== undefined) throw new WeirError('REFUSED', `${fault.field} ${fault.message}`);
    if (name !== before.name)
      refuseUsed((yield* all('SELECT settings FROM webhooks WHERE workspace_pk = $1', workspacePk)).map(settingsOf), name);
    yield* run('UPDATE webhooks SET settings = $2 WHERE id = $1', id, JSON.stringify({ name, url, style }));
    if (secret !== undefined) yield* run('UPDATE webhooks SET secret = $2 WHERE id = $1', id, secret);
    yield* run('UPDATE webhook_states SET failures = 0, next_at = CASE WHEN next_at IS NULL THEN NULL ELSE 0 END WHERE hook_id = $1', id);
    const after = yield* found(workspaceId, id);
    yield* audit(now, 'webhook changed', id, { workspacePk, by, change: changed(webhookAudit(before), webhookAudit(after)) });
    yield* moveRevision();
    return after;
  },
  *deleteWebhook(now, workspaceId, id, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const before = yield* found(workspaceId, id);
    requireState(webhookState(before), ifMatch);
    yield* run('DELETE FROM webhook_states WHERE hook_id = $1', id);
    yield* run('DELETE FROM webhook_deliveries WHERE hook_id = $1', id);
    yield* run('DELETE FROM webhooks WHERE id = $1', id);
    yield* audit(now, 'webhook deleted', id, { workspacePk, by, change: { before: webhookAudit(before), after: null } });
    yield* moveRevision();
  },
} satisfies Changes<Management>;

const settingsOf = ({ settings }: Row) => JSON.parse(String(settings)) as WebhookSettings;

function refuseUsed(there: readonly WebhookSettings[], name: string): void {
  if (there.some((each) => each.name === name)) throw new WeirError('REFUSED', `the workspace has a webhook called "${name}"`);
}

function* found(workspaceId: string, id: string): Work<Webhook> {
  const row = yield* one(ONE, workspaceId, id);
  if (row === undefined) throw noSuch('webhook', id);
  return webhookOf(row);
}

function* moveRevision(): Work<void> {
  yield* notify("UPDATE counters SET value = value + 1 WHERE name = 'webhook_revision'");
}
