import { systemClock } from '../clock.ts';
import type { Check } from '../ports/health.ts';
import { loggedChecks } from '../runtime/check-log.ts';
import type { LandingReport } from '../runtime/consumer-role.ts';
import { readiness } from '../runtime/readiness.ts';
import { shared } from '../serial.ts';
import type { AppendWatch } from '../stream/append-watch.ts';
import { unlanded } from '../stream/lag.ts';
import type { Base } from './base.ts';

export type Landing = () => Promise<LandingReport>;

export async function startLanding({ config, engine }: Base): Promise<Landing | undefined> {
  if (!config.roles.includes('consumer')) return undefined;
  const report = await engine.land();
  const asking = shared<LandingReport>();
  return () => asking(report);
}

/** The checks of `/readyz`; logs each change. */
export function readinessOf(
  { config, store, stream, feedThread, log }: Base,
  landing: Landing | undefined,
  appends: Pick<AppendWatch, 'check'>,
  draining: () => boolean,
): () => Promise<Record<string, Check>> {
  return loggedChecks(
    readiness({
      store,
      stream: config.roles.includes('signals') ? { ping: () => appends.check() } : landing && stream,
      landing,
      lag: () => unlanded(stream, store),
      feeds: feedThread,
      draining,
      now: systemClock.now,
    }),
    log,
  );
}
