/** Deliveries of webhooks and reports of processes (SPEC D27). */
import { SERVICE_WEBHOOK, STORED_DELIVERIES } from '../../account/webhook.ts';
import type { DeliveryUpdate, LogUpdate, WebhookWrites } from '../../ports/stored/webhook-store.ts';
import { type Changes, one, run, type Work } from '../work.ts';
import { hasLease } from './source-states.ts';

/** A process without a report for this time has ended, ms. */
const FORGOTTEN = 3_600_000;

export const webhookStateChanges = {
  *writeLog(_now, lease, updates) {
    if (!(yield* hasLease(lease))) return false;
    for (const update of updates) yield* writeLog(update);
    return true;
  },
  *writeDeliveries(_now, lease, updates) {
    if (!(yield* hasLease(lease))) return false;
    for (const update of updates) yield* writeDelivery(update);
    return true;
  },
  *reportProcess(now, process, report) {
    if (report === null) return void (yield* run('DELETE FROM process_reports WHERE process = $1', process));
    yield* run(`DELETE FROM process_reports WHERE at < ${now} - ${FORGOTTEN}`);
    yield* run(
      `INSERT INTO process_reports (process, at, report) VALUES ($1, ${now}, $2)
       ON CONFLICT (process) DO UPDATE SET at = excluded.at, report = excluded.report`,
      process,
      report,
    );
  },
} satisfies Changes<Pick<WebhookWrites, 'writeLog' | 'writeDeliveries' | 'reportProcess'>>;

function* writeLog({ id, announced, message }: LogUpdate): Work<void> {
  if (id === SERVICE_WEBHOOK)
    yield* run(
      'INSERT INTO webhook_states (hook_id, told, last_at) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING',
      id,
      JSON.stringify(announced),
    );
  yield* run('UPDATE webhook_states SET told = $2 WHERE hook_id = $1', id, JSON.stringify(announced));
  if (message === undefined) return;
  yield* run(
    'UPDATE webhook_states SET message = $2, next_at = $3, last_at = $3 WHERE hook_id = $1',
    id,
    JSON.stringify(message),
    message.at,
  );
}

function* writeDelivery({ id, waits, delivery }: DeliveryUpdate): Work<void> {
  const written = yield* run(
    `UPDATE webhook_states SET message = $2, next_at = $3, failures = ${delivery.outcome === 'delivered' ? '0' : 'failures + 1'}
     WHERE hook_id = $1 AND next_at IS NOT NULL`,
    id,
    waits === null ? null : JSON.stringify(waits.message),
    waits?.nextAt ?? null,
  );
  // Deleted meanwhile.
  if (written === 0) return;
  const last = Number((yield* one('SELECT max(n) AS n FROM webhook_deliveries WHERE hook_id = $1', id))?.n ?? 0);
  yield* run('INSERT INTO webhook_deliveries (hook_id, n, delivery) VALUES ($1, $2, $3)', id, last + 1, JSON.stringify(delivery));
  yield* run('DELETE FROM webhook_deliveries WHERE hook_id = $1 AND n <= $2', id, last + 1 - STORED_DELIVERIES);
}
