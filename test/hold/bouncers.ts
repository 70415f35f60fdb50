/** What one tenant's bouncers can take from the others. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Figure } from '../../bench/support/figures.ts';
import { fillStore } from '../../bench/support/fill.ts';
import { watchMachine } from '../../bench/support/machine.ts';
import { cpuSeconds, memoryMb } from '../../bench/support/process.ts';
import { newKey, newTenant } from '../support/command.ts';
import { ask, postSignals } from '../support/http.ts';
import { KEY } from '../support/weir.ts';
import type { BouncerFlood } from './bouncer-flood.thread.ts';
import { on, type Settings, sending } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';
import type { WaitingFlood } from './waiting-clients.thread.ts';

/** How long after a flood what came of it has been written, ms: bouncers are written once a minute. */
const WRITTEN = 62_000;
/** Reports of 256 KiB each, and pulls. */
const REPORTS = 4_000;
const PULLS = 12_000;

async function flood(options: BouncerFlood): Promise<Record<number, number>> {
  const thread = new Worker(new URL('./bouncer-flood.thread.ts', import.meta.url), { workerData: options });
  const [statuses] = (await once(thread, 'message')) as [Record<number, number>];
  await thread.terminate();
  return statuses;
}

/** Usage metrics and pulls of one key under thousands of names, until they have been written: what a bouncer and polls of another tenant get. */
export const bouncerNames = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED }, async (weir) => {
    const { url } = weir;
    const { key: junk } = await newTenant({ ...settings }, { organization: 'default', workspace: 'junk' }, '--permission', 'feed:read');
    const networks = Array.from({ length: 1000 }, (_, n) => ({
      type: 'access_rules',
      action: 'block',
      ip: `10.0.${n >> 7}.${(n & 127) * 2}`,
    }));
    await postSignals(url, KEY, networks);
    // Landed before the feed is read for the first time, and then every 30 seconds.
    await sleep(2_000);
    const pull = () => ask(url, '/v1/decisions/stream', { headers: { 'x-api-key': KEY, 'user-agent': 'mine/1' } });
    for (let n = 0; n < 20 && !(await pull()).text.startsWith('{"new":[]'); n += 1) await sleep(500);
    const neighbour = await neighbourOf(weir, settings);
    let busy = true;
    let notReady = 0;
    const asking = (async () => {
      while (busy) {
        if ((await ask(url, '/readyz')).status !== 200) notReady += 1;
        await sleep(20);
      }
    })();
    const to = { url, key: junk };
    const what = `${REPORTS} usage metrics and ${PULLS} pulls, each under a name of its own`;
    let [reported, pulled]: Record<number, number>[] = [{}, {}];
    const polls = await neighbour.during(what, async () => {
      reported = await flood({ ...to, method: 'POST', target: '/v1/usage-metrics', bytes: 256 * 1024, count: REPORTS });
      pulled = await flood({ ...to, method: 'GET', target: '/v1/decisions/stream', bytes: 0, count: PULLS });
      await sleep(WRITTEN);
    });
    busy = false;
    await asking;
    const memory = neighbour.memory(what);
    const { text } = await pull();
    return [
      { what: `${what}: answered`, figure: (reported[201] ?? 0) + (pulled[200] ?? 0), limit: REPORTS + PULLS, least: true },
      memory,
      ...polls,
      { what: 'the same: /readyz not 200', figure: notReady, limit: 0 },
      { what: "the same: decisions that another tenant's bouncer is told again", figure: JSON.parse(text).new.length, limit: 0 },
    ];
  });

/** Clients of two keys that wait, and changes of their feed. */
const WAITING = 2_000;
const CHANGES = 50;

/** Thousands of clients of one tenant that wait, and are answered for each change: what polls of another tenant get. */
export const waitingClients = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_FEEDS: '0' }, async (weir) => {
    const { url } = weir;
    const tenant = { organization: 'default', workspace: 'waiting' };
    const { key } = await newTenant({ ...settings }, tenant);
    const keys = [key, await newKey({ ...settings }, 'waiting', '--permission', 'feed:read')];
    const neighbour = await neighbourOf(weir, settings);
    const workerData: WaitingFlood = { url, keys, count: WAITING / keys.length };
    const thread = new Worker(new URL('./waiting-clients.thread.ts', import.meta.url), { workerData });
    await once(thread, 'message');
    const what = `${WAITING} clients that wait, and ${CHANGES} changes`;
    const polls = await neighbour.during(what, async () => {
      for (let n = 0; n < CHANGES; n += 1) {
        await postSignals(url, key, [{ type: 'access_rules', action: 'block', ip: `198.51.100.${n}` }]);
        await sleep(200);
      }
    });
    const memory = neighbour.memory(what);
    thread.postMessage('end');
    const [answers] = (await once(thread, 'message')) as [number];
    await thread.terminate();
    return [{ what: `${what}: answers`, figure: answers, limit: 5 * WAITING, least: true }, memory, ...polls];
  });

/** Rules of a list whose time has passed, within the last six days, and those that are left. */
const EXPIRED = 2_200_000;
const ACTIVE = 1_000;

/** The first fetch of a bouncer whose list has two million expired rules (CrowdSec: 26 to 37 minutes), and what polls of another tenant get. */
export const expiredRules = async (settings: Settings): Promise<Figure[]> => {
  const old = { name: 'old', rules: EXPIRED, maxEntries: 131_072 };
  const passed = (n: number) => Date.now() + (n < ACTIVE ? 86_400_000 : -(60 + (n % 518_400)) * 1000);
  await fillStore(settings.DATA_DIR!, [{ name: 'default', rules: 1, maxEntries: 131_072 }, old], passed);
  return on({ ...settings, ...WATCHED }, async (weir) => {
    const key = await newKey({ ...settings }, 'default', '--permission', 'feed:read', '--list', old.name);
    const neighbour = await neighbourOf(weir, settings);
    const what = `the first fetch of a list with ${EXPIRED} expired rules`;
    let [took, cpu, count] = [0, 0, 0];
    const polls = await neighbour.during(what, async () => {
      const [began, before] = [performance.now(), cpuSeconds(weir.pid)];
      const { text } = await ask(weir.url, '/v1/decisions/stream?startup=true', { headers: { 'x-api-key': key, 'user-agent': 'new/1' } });
      [took, cpu] = [performance.now() - began, cpuSeconds(weir.pid) - before];
      count = JSON.parse(text).new.length;
      await sleep(2_000);
    });
    return [
      { what: `${what}: ms`, figure: took, limit: 1_000, machine: Math.max(...polls.map(({ machine = 0 }) => machine)) },
      { what: 'the same: CPU, ms', figure: 1000 * cpu, limit: 500 },
      { what: 'the same: decisions', figure: count, limit: ACTIVE, least: true },
      neighbour.memory(what),
      ...polls,
    ];
  });
};

/** Connections that ask for everything, each with a filter of its own, so that no two share a body. */
const FILTERS = 60;

/** Pulls of 131,072 decisions with ever new filters, by clients that do not read: memory, and the rebuilds of another tenant meanwhile. */
export const bouncerFilters = async (settings: Settings): Promise<Figure[]> => {
  await fillStore(settings.DATA_DIR!, [{ name: 'default', rules: 131_072, maxEntries: 131_072 }]);
  return on({ ...settings, FEED_REBUILD_SECONDS: '0' }, async ({ url, pid }) => {
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'other' });
    await postSignals(url, key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    const poll = async () => {
      const began = performance.now();
      const { status } = await ask(url, '/v1/threat/feeds', { headers: { authorization: `Bearer ${key}` } });
      return status === 200 ? performance.now() - began : Number.POSITIVE_INFINITY;
    };
    await ask(url, '/v1/decisions/stream', { headers: { 'x-api-key': KEY } });
    await poll();
    const idle = memoryMb(pid);
    const machine = await watchMachine();
    const sockets = await Promise.all(
      Array.from({ length: FILTERS }, async (_, n) => {
        const path = `/v1/decisions/stream?startup=true&scenarios_not_containing=none${n}`;
        return (await sending(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\n\r\n`)).pause();
      }),
    );
    const waits: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      waits.push(await poll());
      await sleep(50);
    }
    const bare = Math.max(...(await machine.end()));
    const peak = memoryMb(pid, 'VmHWM');
    for (const socket of sockets) socket.destroy();
    const what = `${FILTERS} pulls of 131,072 decisions, each with a filter of its own`;
    return [
      { what: `${what}: memory over idle, MiB`, figure: peak - idle, limit: 200 },
      { what: 'the same: worst rebuild of another tenant, ms', figure: Math.max(...waits), limit: 500, machine: bare },
    ];
  });
};
