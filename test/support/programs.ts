import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The programs that tests run, by the Debian package that holds each. */
const PACKAGES = {
  chromium: 'chromium',
  crowdsec: 'crowdsec',
  'crowdsec-custom-bouncer': 'crowdsec-custom-bouncer',
  'crowdsec-firewall-bouncer': 'crowdsec-firewall-bouncer',
  curl: 'curl',
  'fail2ban-server': 'fail2ban',
  'firefox-esr': 'firefox-esr',
  flock: 'util-linux',
  go: 'golang-go',
  gzip: 'gzip',
  haproxy: 'haproxy',
  initdb: 'postgresql',
  pg_basebackup: 'postgresql',
  ip: 'iproute2',
  iprange: 'iprange',
  ipset: 'ipset',
  iptables: 'iptables',
  java: 'openjdk-17-jre-headless',
  md5sum: 'coreutils',
  sha256sum: 'coreutils',
  mvn: 'maven',
  nft: 'nftables',
  nginx: 'nginx-light',
  openssl: 'openssl',
  pip3: 'python3-pip',
  postgres: 'postgresql',
  promtool: 'prometheus',
  python3: 'python3-minimal',
  setpriv: 'util-linux',
  'ssh-keygen': 'openssh-client',
  'systemd-analyze': 'systemd',
  unshare: 'util-linux',
  wget: 'wget',
  wrk: 'wrk',
} as const;
type Program = keyof typeof PACKAGES;

/** Packages whose own scripts would do more than install, such as register the machine with a vendor or start a service: they are unpacked here only. */
const UNPACKED: readonly Program[] = ['crowdsec', 'crowdsec-custom-bouncer', 'crowdsec-firewall-bouncer', 'promtool'];
const UNPACK_INTO = join(tmpdir(), 'weir-programs');

// Debian keeps nft and nginx where only root looks for programs.
process.env.PATH = [process.env.PATH, '/usr/sbin', '/sbin', join(UNPACK_INTO, 'usr/bin')].join(delimiter);

/**
 * Why a suite cannot run here, in one line, or false: meant for the option `skip` of `describe` and `test`. With CI set, missing
 * programs are installed first (as root), and one that is still missing is an error: CI skips nothing.
 */
export function needs(...programs: Program[]): string | false {
  const ci = Boolean(process.env.CI);
  if (ci && process.getuid?.() === 0) programs.filter((program) => !isHere(program)).forEach(install);
  const missing = programs.filter((program) => !isHere(program));
  if (missing.length === 0) return false;
  const reason = `needs ${missing.map((program) => `${program} (Debian package ${PACKAGES[program]})`).join(', ')}`;
  if (ci) throw new Error(`${reason}, and with CI set nothing is skipped`);
  return reason;
}

const isHere = (program: Program) => locate(program) !== undefined;

/** Where a program is, or undefined. Debian keeps the server's of PostgreSQL in a folder per version. */
export function locate(program: Program): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...globSync('/usr/lib/postgresql/*/bin').sort().reverse()];
  return folders
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** One process at a time; the package lists are fetched once an hour at most. */
const INSTALL = `
  command -v "$1" >/dev/null && exit 0
  if [ -z "$(find "$3" -mmin -60 2>/dev/null)" ]; then
    apt-get -q -o Acquire::Retries=3 update
    touch "$3"
  fi
  if [ -n "$4" ]; then
    mkdir -p "$4" && cd "$4"
    apt-get -q -o Acquire::Retries=3 download "$2"
    dpkg-deb -x "$2"_*.deb . && rm "$2"_*.deb
  else
    apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$2"
  fi
`;

function install(program: Program): void {
  const [lock, stamp] = ['weir-apt.lock', 'weir-apt.updated'].map((name) => join(tmpdir(), name));
  const folder = UNPACKED.includes(program) ? UNPACK_INTO : '';
  const result = spawnSync('flock', [lock, 'sh', '-ec', INSTALL, 'sh', program, PACKAGES[program], stamp, folder], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  });
  if (result.status !== 0) console.error(`installing ${program}:\n${result.stdout}${result.stderr}${result.error ?? ''}`);
}

/** Does what needs the network up to three times, some seconds apart: a mirror may not answer once. Not once `signal` has ended it. */
export async function again<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const seconds of [2, 10]) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw error;
      await sleep(seconds * 1000);
    }
  }
  return work();
}
