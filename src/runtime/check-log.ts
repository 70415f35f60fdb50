/** SPEC D16.3. */
import type { Readiness } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';

/** Landing and stream log their own state. */
const NAMES: Readonly<Record<string, string>> = { store: 'the store', feeds: 'the thread that builds feeds' };

export function loggedChecks(ready: Readiness, log: Log): Readiness {
  const lost = new Set<string>();
  return async () => {
    const checks = await ready();
    for (const [part, { ok, reason }] of Object.entries(checks)) {
      const name = NAMES[part];
      if (name === undefined || ok === !lost.has(part)) continue;
      if (ok) lost.delete(part);
      else lost.add(part);
      if (ok) log('info', `${name} is available again`);
      else log('error', `${name} is not ready: ${reason}`);
    }
    return checks;
  };
}
