/** `weir doctor`: checks the machine, the settings and the engines, and says what to do (SPEC D49.6). */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { areOff } from '../../account/guard-rails.ts';
import { DAY } from '../../clock.ts';
import { misspeltSettings } from '../../config.ts';
import { diskFault } from '../../disk.ts';
import { loadGeo } from '../../geo/load.ts';
import { geoStatus } from '../../geo/status.ts';
import { attempt, requireWritable } from '../../runtime/data-dir.ts';
import { schemaOf, storeVersion } from '../../runtime/engines.ts';
import { geoFiles } from '../../runtime/geo.ts';
import { serviceGuardRails } from '../../runtime/guard-rails.ts';
import { readStatusFiles } from '../../runtime/ledgers/status-file.ts';
import { useTls } from '../../runtime/tls.ts';
import type { AddCommand } from '../command.ts';
import { type Context, fieldTable } from '../context.ts';
import { noOptions } from '../usage.ts';

type State = 'ok' | 'warning' | 'fault';
/** What was found, and what to do about it. */
type Finding = readonly [state: State, found: string, advice?: string];
type Check = (context: Context) => Finding | Promise<Finding>;

const GB = 1e9;
/** Limits of a healthy machine: free bytes, ms of one sync, ms of clock difference, days of geo data and of a certificate. */
const LEAST_FREE = GB;
const SLOW_SYNC = 20;
const SYNCS = 9;
const MOST_AHEAD = 2_000;
const OLD_GEO = 90;
const ENDING = 14;
/** For other files than connections. */
const OTHER_FILES = 500;
/** statfs types. */
const TMPFS = 0x0102_1994;
const REMOTE: readonly number[] = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997];

const PORT_FAULTS: Readonly<Record<string, readonly [found: string, advice: string]>> = {
  EADDRINUSE: ['another program has the port', 'stop it, or set PORT; if it is weir.socket of systemd: systemctl start weir'],
  EACCES: ['this user may not open it', 'set PORT to 1024 or more, or use weir.socket of systemd'],
};

const ok = (found: string): Finding => ['ok', found];

/** DATA_DIR, or the folder that it will be created in. Throws a sentence if it cannot be used. */
function existing(folder: string): string {
  if (!existsSync(folder)) return existing(dirname(resolve(folder)));
  requireWritable(folder);
  return folder;
}

const CHECKS: Readonly<Record<string, Check>> = {
  settings({ environment }) {
    const misspelt = misspeltSettings(environment);
    return misspelt.length > 0 ? ['warning', misspelt.join(' '), 'correct the name, or remove it'] : ok('valid');
  },
  disk({ config: { dataDir } }) {
    const folder = existing(dataDir);
    const { bavail, bsize, type } = statfsSync(folder);
    const free = `${(bavail * bsize * 1e-9).toFixed(1)} GB free in ${folder}`;
    const full = diskFault(folder);
    if (full !== undefined) return ['fault', full, 'free space: weir accepts no signals'];
    if (REMOTE.includes(type)) return ['fault', `${dataDir} is on a network file system`, 'set DATA_DIR to a local disk'];
    if (type === TMPFS) return ['fault', `${dataDir} is in memory`, 'set DATA_DIR to a disk'];
    const data = statSync(join(dataDir, 'weir.db'), { throwIfNoEntry: false })?.size ?? 0;
    return bavail * bsize < LEAST_FREE + data ? ['warning', free, 'free space: an upgrade copies the store'] : ok(free);
  },
  fsync({ config: { dataDir } }) {
    const file = join(existing(dataDir), `doctor-${process.pid}`);
    const handle = openSync(file, 'wx', 0o600);
    const sync = () => {
      const begun = performance.now();
      writeSync(handle, Buffer.alloc(4096));
      fsyncSync(handle);
      return performance.now() - begun;
    };
    try {
      const times = Array.from({ length: SYNCS }, () => attempt(`a write to ${file} failed`, sync));
      const median = times.sort((a, b) => a - b)[(SYNCS - 1) / 2]!;
      const found = `${median.toFixed(1)} ms for a synchronous write`;
      return median > SLOW_SYNC ? ['warning', found, 'each batch of signals waits for one: use a faster disk'] : ok(found);
    } finally {
      closeSync(handle);
      rmSync(file);
    }
  },
  async clock(context) {
    const { config } = context;
    const advice = 'synchronize the clock (timedatectl, chrony): expiry depends on it';
    if (config.databaseUrl === undefined) {
      const written = statSync(join(existing(config.dataDir), 'weir.db'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const isBehind = written > Date.now() + MOST_AHEAD;
      return isBehind ? ['fault', 'the store was written at a later time than now', advice] : ok(new Date().toISOString());
    }
    const [asked, theirs, answered] = [Date.now(), await (await context.reads()).ping(), Date.now()];
    const apart = Math.round(Math.max(asked - theirs, theirs - answered, 0));
    const found = `${apart} ms from the clock of PostgreSQL`;
    return apart > MOST_AHEAD ? ['fault', found, advice] : ok(found);
  },
  files({ config }) {
    const pid = running(config.dataDir)[0]?.pid ?? 'self';
    const limits = readIf(`/proc/${pid}/limits`) ?? readIf('/proc/self/limits') ?? '';
    const [, hard] = /^Max open files +\S+ +(\d+)/m.exec(limits) ?? [];
    if (hard === undefined) return ok('no limit is known here');
    const needed = config.maxConnections + OTHER_FILES;
    const advice = `set LimitNOFILE=${needed}, or a smaller MAX_CONNECTIONS`;
    const found = `${hard} open files for ${config.maxConnections} connections`;
    return Number(hard) < needed ? ['warning', found, advice] : ok(found);
  },
  async port({ config: { dataDir, host, port } }) {
    const [own] = running(dataDir);
    if (own !== undefined) return ok(`weir serves ${own.url}`);
    const error = await listenError(host, port);
    if (error === undefined) return ok(`${host}:${port} is free; weir does not run`);
    const [found, advice] = (error.code && PORT_FAULTS[error.code]) || [error.message, 'set HOST to an address of this machine'];
    return ['fault', `${host}:${port}: ${found}; weir does not run`, advice];
  },
  tls({ config }) {
    const tls = useTls(config, () => {});
    if (tls === undefined) return ok('not set: HTTP, for this machine or a proxy');
    tls.close();
    const found = `the certificate expires on ${new Date(tls.expiresAt()).toISOString().slice(0, 10)}`;
    return tls.expiresAt() < Date.now() + ENDING * DAY ? ['warning', found, 'renew it'] : ok(found);
  },
  async store({ config }) {
    if (config.databaseUrl === undefined) existing(config.dataDir);
    const { store, weir, missing, newer } = await schemaOf(config);
    const version = await storeVersion(config);
    if (newer.length > 0) return ['fault', `${version}; the schema is of a newer weir`, 'install that weir, or restore a backup'];
    if (store === null) return ok(`${version}; the first start creates the store`);
    return missing.length > 0 ? ['warning', `${version}; the schema is ${store}`, `back up; a start brings it to ${weir}`] : ok(version);
  },
  async stream(context) {
    if (context.config.kafkaBrokers === undefined) return ok('embedded');
    await (await context.stream()).ping();
    return ok('the brokers answer');
  },
  async geo({ config }) {
    const { country, asn } = geoStatus(
      await loadGeo(geoFiles(config), existsSync(config.dataDir) ? config.dataDir : undefined),
      Date.now(),
    );
    const days = Math.max(country.age_days, asn.age_days);
    const found = `countries ${country.age_days} days old, ASNs ${asn.age_days}`;
    return days > OLD_GEO ? ['warning', found, 'set GEO_UPDATE_HOURS=24, or run weir geo update'] : ok(found);
  },
  'guard rails'({ config }) {
    if (!areOff(serviceGuardRails(config))) return ok('on');
    return ['warning', 'off: any network can be blocked', 'set PROTECTED_NETWORKS, MIN_PREFIX_V4 and MIN_PREFIX_V6'];
  },
};

export function doctorCommand(add: AddCommand): void {
  add('doctor', 'check the machine, settings and engines; exit code 1 for a fault, 3 for a warning', noOptions, {
    async run(context) {
      const checks: { check: string; state: State; found: string; advice: string | null }[] = [];
      for (const [check, examine] of Object.entries(CHECKS)) {
        const [state, found, advice = null] = await Promise.resolve(context).then(examine).catch(faultOf);
        checks.push({ check, state, found, advice });
      }
      const has = (wanted: State) => checks.some(({ state }) => state === wanted);
      context.exitCode = has('fault') ? 1 : has('warning') ? 3 : 0;
      return { checks };
    },
    show: ({ checks }) => fieldTable(checks, { CHECK: 'check', STATE: 'state', FOUND: 'found', 'WHAT TO DO': 'advice' }),
  });
}

const faultOf = (error: Error): Finding => ['fault', error.message.replaceAll('\n', '; '), 'fix the setting or the part that it names'];

const running = (dataDir: string) => readStatusFiles(dataDir, Date.now());

function readIf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function listenError(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  return new Promise((done) => {
    server.once('error', done);
    server.listen({ host, port }, () => server.close(() => done(undefined)));
  });
}
