/** SPEC D49.3. */
import { execFile } from 'node:child_process';
import { WeirError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The first descriptor that systemd hands over; sd_listen_fds(3). */
const FIRST_FD = 3;

/** The listening socket of weir.socket; undefined: weir opens its own. Throws USAGE if the settings name another address. */
export function socketFrom({ LISTEN_FDS, LISTEN_PID, HOST, PORT }: Environment): number | undefined {
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(process.pid)) return undefined;
  if (LISTEN_FDS !== '1') throw new WeirError('USAGE', `weir.socket must have one ListenStream, not ${LISTEN_FDS}`);
  const set = Object.entries({ HOST, PORT }).filter(([, value]) => value);
  if (set.length === 0) return FIRST_FD;
  const names = set.map(([name]) => name).join(' and ');
  throw new WeirError('USAGE', `${names} must be unset: weir.socket has the address. Change it there (systemctl edit weir.socket)`);
}

/**
 * A state such as `READY=1`, for `Type=notify`. Node has no datagram sockets of this kind, hence the program of systemd, which notices
 * failures by its own timeout.
 */
export async function notifySystemd({ NOTIFY_SOCKET }: Environment, state: 'READY=1' | 'STOPPING=1'): Promise<void> {
  if (NOTIFY_SOCKET === undefined) return;
  const env = { NOTIFY_SOCKET, PATH: '/usr/bin:/bin' };
  await new Promise<void>((resolve) => execFile('systemd-notify', [state], { env }, () => resolve()));
}
