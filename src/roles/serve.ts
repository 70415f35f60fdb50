import type { AddressInfo } from 'node:net';
import { areOff, mayBlock } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { App } from '../http/app.ts';
import type { MetricsPage } from '../http/metrics.ts';
import type { ProcessStatus } from '../manage/status.ts';
import { localUrlOf, urlOf } from '../runtime/address.ts';
import { ensureFirstKey, keyLine, welcome } from '../runtime/first-key.ts';
import { GUARD_RAILS_OFF } from '../runtime/guard-rails.ts';
import { startAuditExport } from '../runtime/ledgers/audit-export.ts';
import { startAuditLog } from '../runtime/ledgers/audit-log.ts';
import { startStatusFile } from '../runtime/ledgers/status-file.ts';
import type { Base } from './base.ts';
import { serveMetrics } from './metrics.ts';
import type { Seen } from './usage.ts';

/** Connections waiting at the socket of systemd while weir restarts; Linux has a maximum of 4,096 by default. */
const BACKLOG = 4096;

export interface Serving {
  readonly app: App;
  readonly metrics: MetricsPage | undefined;
  readonly draining: () => boolean;
  readonly stdout: NodeJS.WritableStream;
  /** As in ServiceOptions. */
  readonly socket: number | undefined;
}

/** Resolves with the local URL. Prints a new first key even if a port is refused. */
export async function listen(base: Base, { app, metrics, draining, stdout, socket }: Serving): Promise<string> {
  const { config, store, guardRails, log, logger, onStop } = base;
  // Only a port can fail from here on: a new key is always printed.
  const { made, printed: firstKey } = await ensureFirstKey(config.bootstrapApiKey, store, systemClock.now(), log);
  const { host, port, reusePort } = config;
  const target = socket === undefined ? { host, port, reusePort } : { fd: socket, backlog: BACKLOG };
  const open = async () => {
    const address = await app.listen(target).catch((error: Error) => {
      throw new WeirError(
        'USAGE',
        `cannot listen on ${socket === undefined ? `${host}:${port}` : 'the socket of systemd'}: ${error.message}`,
      );
    });
    log('info', `listening on ${address}`);
    onStop(() => app.close());
    const report = (err: unknown) => logger.error({ err }, 'the metrics could not be read');
    if (metrics !== undefined) onStop(await serveMetrics(metrics, config, draining, log, report));
  };
  await open().catch((error: Error) => {
    if (firstKey !== undefined) stdout.write(`${keyLine(firstKey)}\n`);
    throw error;
  });
  onStop(startAuditLog(store, log));
  const { auditLog: path, dataDir } = config;
  if (path !== undefined) onStop(startAuditExport(store, { path, dataDir, stdout }, systemClock.now, log));
  if (made && areOff(guardRails)) log('warn', GUARD_RAILS_OFF);
  const url = localUrlOf(...boundTo(base, { app, socket }));
  if (firstKey !== undefined) stdout.write(`${welcome(config.baseUrl ?? url, firstKey, mayBlock(guardRails))}\n`);
  return url;
}

/** Prints the ready line, and maintains the state file. */
export function announce(
  base: Base,
  { watch }: Pick<Seen, 'watch'>,
  ownStatus: () => Promise<ProcessStatus>,
  { app, stdout, socket }: Serving,
): void {
  const { config, log, onStop } = base;
  const status = startStatusFile(config.dataDir, ownStatus, log);
  watch.onChange(() => status.soon());
  onStop(status.stop);
  stdout.write(`weir ready on ${urlOf(...boundTo(base, { app, socket }))}\n`);
}

function boundTo({ config, tls }: Base, { app, socket }: Pick<Serving, 'app' | 'socket'>) {
  const { address, port } = app.server.address() as AddressInfo;
  return [socket === undefined ? config.host : address, port, tls === undefined ? 'http' : 'https'] as const;
}
