/** SPEC D27. */
import { randomUUID } from 'node:crypto';
import { type Clocks, systemClock } from '../clock.ts';
import type { ManagePorts } from '../manage/context.ts';
import type { ProcessStatus } from '../manage/status.ts';
import { holdLease } from '../runtime/sources/lease.ts';
import { startReports } from '../runtime/webhooks/heartbeat.ts';
import { sendPortsOf } from '../runtime/webhooks/sending.ts';
import { type Webhooks, webhooks } from '../runtime/webhooks/webhooks.ts';
import type { Base } from './base.ts';

/** ms. */
const TICK = 1000;

/** `manage`: undefined without the role. `own`: status of this process. */
export function startWebhooks(base: Base, manage: Pick<ManagePorts, 'service'> | undefined, own: () => Promise<ProcessStatus>): void {
  const { config, store, log, onStop } = base;
  const reports = startReports(store, `${process.pid}-${randomUUID()}`, own, { hasOwn: config.webhookUrl !== undefined, log });
  onStop(reports.stop);
  if (manage === undefined) return;
  const webhooks = webhooksOf(base, manage.service, systemClock);
  const timer = setInterval(() => void webhooks.tick(), TICK).unref();
  onStop(async () => {
    clearInterval(timer);
    await webhooks.stop();
  });
}

export function webhooksOf(
  { config, store, guardRails, log }: Pick<Base, 'config' | 'store' | 'guardRails' | 'log'>,
  service: Pick<ManagePorts['service'], 'engines' | 'geo'>,
  clock: Clocks,
): Webhooks {
  const { webhookUrl: url, webhookStyle: style, webhookSecret: secret } = config;
  return webhooks({
    store,
    guardRails,
    service,
    own: url === undefined ? undefined : { url, style, secret: secret ?? null },
    ownStyle: url === undefined ? undefined : style,
    send: sendPortsOf(config, clock),
    lease: holdLease(store, 'webhooks', `${process.pid}-${randomUUID()}`, clock.monotonic),
    now: clock.now,
    monotonic: clock.monotonic,
    log,
  });
}
