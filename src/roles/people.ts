import { systemClock } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { People } from '../http/console/people.ts';
import type { IdentityProvider } from '../ports/identity-provider.ts';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';

/** Interval of one subject's log lines, ms; limit of remembered subjects. */
const REPORT_EVERY = 60_000;
const MOST_REPORTED = 1000;

export interface LivePeople extends People {
  /** Reads OIDC_FILE again (SIGHUP). If it has a fault, logs it and keeps the old content. */
  reload(): void;
}

/** undefined: no providers, or no console. Throws USAGE with every fault of the file. */
export async function openPeople(config: Config, log: Log): Promise<LivePeople | undefined> {
  const { oidcFile, consoleKeys: keys, baseUrl } = config;
  if (oidcFile === undefined || baseUrl === undefined) {
    if (!keys) throw new WeirError('USAGE', 'CONSOLE_KEYS must not be off without an OIDC_FILE: nobody could sign in to the console');
    return undefined;
  }
  // Loaded only if there are providers.
  const [{ hasAdmin, readPeopleSettings }, { openProvider }] = await Promise.all([
    import('../openid/settings.ts'),
    import('../openid/provider.ts'),
  ]);
  /** By settings: an unchanged provider keeps its metadata. */
  let open = new Map<string, IdentityProvider>();
  const read = (): Pick<People, 'providers' | 'roles'> => {
    const settings = readPeopleSettings(oidcFile);
    if (!keys && !hasAdmin(settings)) {
      throw new WeirError('USAGE', `CONSOLE_KEYS must not be off: OIDC_FILE ${oidcFile} has no admin, so nobody could change anything`);
    }
    open = new Map(
      settings.providers.map(({ roles: _, ...each }) => {
        const name = JSON.stringify(each);
        return [name, open.get(name) ?? openProvider({ ...each, roles: [] }, systemClock.monotonic)];
      }),
    );
    return { providers: [...open.values()], roles: settings.roles };
  };
  let inUse = read();
  return {
    get providers() {
      return inUse.providers;
    },
    get roles() {
      return inUse.roles;
    },
    baseUrl,
    keys,
    report: seldom((line) => log('warn', line)),
    reload() {
      try {
        inUse = read();
        log('info', `OIDC_FILE was read again: ${inUse.providers.map(({ id }) => id).join(', ')}`);
      } catch (error) {
        log('error', `OIDC_FILE has a fault, so the previous content stays in use: ${(error as Error).message}`);
      }
    },
  };
}

/** One line per subject and minute: strangers can start any number of sign-ins. */
function seldom(say: (line: string) => void): (about: string, line: string) => void {
  const reported = new Map<string, number>();
  return (about, line) => {
    const at = systemClock.monotonic();
    if (at - (reported.get(about) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY) return;
    if (reported.size >= MOST_REPORTED) reported.clear();
    reported.set(about, at);
    say(line);
  };
}
