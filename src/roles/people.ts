/** What people sign in to the console with: the providers of OIDC_FILE (SPEC D24.3). */
import { systemClock } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { People } from '../http/console/people.ts';
import type { IdentityProvider } from '../ports/identity-provider.ts';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';

/** How often something is said of one thing, ms, and how many are remembered. */
const SAID_EVERY = 60_000;
const MOST_SAID = 1000;

/** What people sign in with, which may change while the service runs. */
export interface LivePeople extends People {
  /** Reads OIDC_FILE again (SIGHUP). What was read before stays where it has a fault, which is logged. */
  reload(): void;
}

/** Opens the providers; undefined where there are none, or nobody is served a console. Throws USAGE with every fault of the file. */
export async function openPeople(config: Config, log: Log): Promise<LivePeople | undefined> {
  const { oidcFile, consoleKeys: keys, baseUrl } = config;
  if (oidcFile === undefined || baseUrl === undefined) {
    if (!keys) throw new WeirError('USAGE', 'CONSOLE_KEYS must not be off without an OIDC_FILE: nobody could sign in to the console');
    return undefined;
  }
  // Who has no providers does not wait for what asks them.
  const [{ hasAdmin, readPeopleSettings }, { openProvider }] = await Promise.all([
    import('../openid/settings.ts'),
    import('../openid/provider.ts'),
  ]);
  /** Providers by what is set of them: one that stays as it was is not asked about itself anew. */
  let open = new Map<string, IdentityProvider>();
  const read = (): Pick<People, 'providers' | 'roles'> => {
    const settings = readPeopleSettings(oidcFile);
    if (!keys && !hasAdmin(settings)) {
      throw new WeirError(
        'USAGE',
        `CONSOLE_KEYS must not be off: OIDC_FILE ${oidcFile} makes nobody admin, so nobody could change anything`,
      );
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
        log('error', `OIDC_FILE is used as it was before: ${(error as Error).message}`);
      }
    },
  };
}

/** Says at most one sentence a minute about one thing: strangers may begin as many sign-ins as they like. */
function seldom(say: (line: string) => void): (about: string, line: string) => void {
  const said = new Map<string, number>();
  return (about, line) => {
    const at = systemClock.monotonic();
    if (at - (said.get(about) ?? Number.NEGATIVE_INFINITY) < SAID_EVERY) return;
    if (said.size >= MOST_SAID) said.clear();
    said.set(about, at);
    say(line);
  };
}
