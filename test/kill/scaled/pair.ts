/** A PostgreSQL that takes writes and a synchronous standby that follows it; who takes writes can change, as whatever watches them decides. */
import { setTimeout as sleep } from 'node:timers/promises';
import { administer, type OwnPostgres, startOwnPostgres } from '../../support/postgres.ts';
import { type Link, openLink } from '../links.ts';
import type { Part } from '../world.ts';

const SETTINGS = { shared_buffers: '16MB', max_connections: '100', wal_keep_size: '64MB' };
/** How long a standby may need to be as new as the primary, ms. */
const CATCH_UP = 180_000;

export interface Pair {
  /** From a client to each host; a host that is made anew stays behind the same link. */
  openLinks(): Promise<readonly Link[]>;
  /** From the standby to the primary. */
  readonly between: Link;
  readonly primary: Part;
  readonly standby: Part;
  /** The primary ends or hangs, after `ms` it is fenced and the standby takes over, and a new standby is made of it. Where the standby may lack something, the primary is started again instead. */
  promote(how: 'kill' | 'pause', ms: number): Promise<void>;
  /** Resolves when both are there, the standby as new as the primary. */
  whole(): Promise<void>;
  /** The address of a database of the primary. */
  url(database?: string): string;
  /** How often the standby took over. */
  promotions(): number;
  stop(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  let primary = await startOwnPostgres(SETTINGS);
  const between = await openLink(() => primary.port);
  // Copied from the primary itself, and followed over the link.
  const newStandby = () =>
    startOwnPostgres({ ...SETTINGS, primary_conninfo: `host=127.0.0.1 port=${between.port} user=weir` }, primary.port);
  let standby = await newStandby();
  /** By the number of the host. */
  const hosts = [primary, standby];
  const [url, all] = [(of: OwnPostgres, database = 'postgres') => `postgres://weir@127.0.0.1:${of.port}/${database}`, new Set<Link>()];
  let promotions = 0;
  // Whether the standby had all of what the primary had committed, since when commits wait for it.
  let isTrusted = false;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what starts and ends servers. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  const waitFor = (of: OwnPostgres, names: string) =>
    administer(url(of), `ALTER SYSTEM SET synchronous_standby_names = '${names}'`).then(() =>
      administer(url(of), 'SELECT pg_reload_conf()'),
    );
  const IN_STEP = `SELECT count(*)::int AS n FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= pg_current_wal_insert_lsn()`;
  /** Resolves when the standby has all there is. */
  async function trust(): Promise<void> {
    for (const deadline = performance.now() + CATCH_UP; !isTrusted; ) {
      isTrusted = await administer(url(primary), IN_STEP).then(
        ([row]) => row!.n === 1,
        () => false,
      );
      if (isTrusted || performance.now() > deadline) break;
      await sleep(100);
    }
    if (!isTrusted) throw new Error('the standby does not catch up');
  }

  await waitFor(primary, '*');
  await trust();
  const part = (which: () => OwnPostgres, ended: () => void): Part => ({
    kill: (ms) =>
      inTurn(async () => {
        const server = which();
        ended();
        await server.kill();
        await sleep(ms);
        await server.start();
      }),
    pause: () => which().pause(),
    // Whichever was stopped: it may have got another place meanwhile.
    resume: () => [primary, standby].forEach((each) => void each.resume()),
  });

  return {
    async openLinks() {
      const links = await Promise.all([0, 1].map((host) => openLink(() => hosts[host]!.port)));
      for (const each of links) all.add(each);
      return links;
    },
    between,
    // What was committed and not replicated shows after a restart.
    primary: part(() => primary, () => (isTrusted = false)), // biome-ignore format: one line
    standby: part(() => standby, () => {}), // biome-ignore format: one line
    promote: (how, ms) =>
      inTurn(async () => {
        const old = primary;
        await old[how]();
        await sleep(ms);
        if (!isTrusted) {
          await old.kill();
          return old.start();
        }
        // What waits for a standby that is not there yet would wait for long.
        await waitFor(standby, '');
        await administer(url(standby), 'SELECT pg_promote()');
        [primary, isTrusted, promotions] = [standby, false, promotions + 1];
        await sleep(how === 'pause' ? ms : 0);
        await old.stop();
        between.cut();
        standby = await newStandby();
        hosts[hosts.indexOf(old)] = standby;
        await waitFor(primary, '*');
        await trust();
      }),
    whole: () => inTurn(trust),
    url: (database) => url(primary, database),
    promotions: () => promotions,
    async stop() {
      await inTurn(() => Promise.all([primary.stop(), standby.stop()]));
      await Promise.all([between, ...all].map((each) => each.close()));
    },
  };
}
