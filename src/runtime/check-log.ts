/** A line of the log when the store, or a thread, is lost and when it is there again (SPEC D16.3). */
import type { Readiness } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';

/** What each check is called; landing and the stream tell of themselves. */
const NAMES: Readonly<Record<string, string>> = { store: 'the store', feeds: 'the thread that builds feeds' };

/** The same checks, logged where one has changed since they were last made. */
export function loggedChecks(ready: Readiness, log: Log): Readiness {
  const lost = new Set<string>();
  return async () => {
    const checks = await ready();
    for (const [part, { ok, reason }] of Object.entries(checks)) {
      const name = NAMES[part];
      if (name === undefined || ok === !lost.has(part)) continue;
      if (ok) lost.delete(part);
      else lost.add(part);
      if (ok) log('info', `${name} is there again`);
      else log('error', `${name} is not ready: ${reason}`);
    }
    return checks;
  };
}
