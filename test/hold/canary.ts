/** Large wrong changes through every entry point, with kills: who receives them, and the cost of a canary. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { cpuSeconds, memoryMb } from '../../bench/support/process.ts';
import { ask, bearer, postSignals, type Reply } from '../support/http.ts';
import { seededRandom } from '../support/random.ts';
import { eventually, KEY, startWeir } from '../support/weir.ts';
import type { Settings } from './checks.ts';

const CHANGES = 200;
const DEVICES = 20;
const CANARIES = 2;
/** Of the feed at the beginning. */
const RULES = 20_000;
/** Small changes that all devices fetch, for the cost. */
const ROUNDS = 30;
/** ms */
const IN_TIME = 60_000;
const LIMITS = { RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', RATE_LIMIT_MANAGE: '0' };

export async function canaryChanges(given: Settings): Promise<Figure[]> {
  const settings = { BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'error', FEED_REBUILD_SECONDS: '0', ...LIMITS, ...given };
  const { below, pick } = seededRandom(40);
  let weir = await startWeir(settings);
  const manage = (method: string, path: string, body: object | string): Promise<Reply> =>
    ask(weir.url, `/v1/manage${path}`, {
      ...{ method, headers: { ...bearer(KEY), 'if-match': '*' } },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip });
  const send = (list: string, ips: readonly string[]) => postSignals(weir.url, KEY, ips.map(block), `/v1/signal?list=${list}`);

  try {
    await manage('PATCH', '/workspace', { protect: [], large: 'all' });
    for (const name of ['member', 'wide']) await manage('POST', '/lists', { name });
    const keys: string[] = [];
    for (let n = 0; n < DEVICES; n += 1)
      keys.push(JSON.parse((await manage('POST', '/keys', { name: `device-${n}`, permissions: ['feed:read'] })).text).key);
    const lists = JSON.parse((await ask(weir.url, '/v1/manage/lists', { headers: bearer(KEY) })).text).lists as {
      id: string;
      name: string;
    }[];
    const ids = lists.filter(({ name }) => name === 'member' || name === 'wide').map(({ id }) => id);
    const feed = { name: 'edges', lists: ids, canary_keys: 'device-0,device-1' };
    const { id: feedId } = JSON.parse((await manage('POST', '/feeds', feed)).text) as { id: string };
    for (let from = 0; from < RULES; from += 1000)
      await send(
        'member',
        Array.from({ length: 1000 }, (_, i) => `20.${((from + i) >> 8) & 255}.${(from + i) & 255}.${((from + i) >> 16) + 1}`),
      );

    let baseline: string | undefined;
    let [polls, wrong] = [0, 0];
    /** The feed without small changes. */
    const steady = (text: string) =>
      text
        .split('\n')
        .filter((line) => !line.startsWith('198.18.'))
        .join('\n');
    const fetch = async (n: number) => {
      const { status, text, headers } = await ask(weir.url, '/v1/threat/feeds/edges', { headers: bearer(keys[n]!) });
      if (status !== 200) throw new Error(`${status} ${text}`);
      if (n >= CANARIES && baseline !== undefined) {
        polls += 1;
        if (steady(text) !== baseline) wrong += 1;
      }
      return { text, canary: String(headers['x-feed-canary'] ?? '') };
    };
    const all = () => Promise.all(keys.map((_, n) => fetch(n)));
    let small = 0;
    /** Whether a small block has reached all devices in time. */
    const reaches = async (): Promise<boolean> => {
      small += 1;
      // No two merge.
      const prefix = `198.18.${small >> 7}.${(2 * small) & 255}`;
      const begun = performance.now();
      await eventually(async () => {
        if ((await send('member', [prefix])).status !== 200) throw new Error('not accepted');
      });
      await eventually(async () => {
        if (!(await all()).every(({ text }) => text.includes(`${prefix}/32`))) throw new Error('not everywhere');
      }, 2 * IN_TIME);
      return performance.now() - begun <= IN_TIME;
    };
    const settled = async () => {
      baseline = undefined;
      await eventually(async () => {
        const found = await all();
        if (found.some(({ canary }) => canary !== '') || new Set(found.map(({ text }) => text)).size > 1)
          throw new Error('not promoted yet');
        baseline = steady(found[2]!.text);
      });
    };
    const cost = async () => {
      const begun = cpuSeconds(weir.pid);
      for (let n = 0; n < ROUNDS; n += 1) await reaches();
      return { cpu: cpuSeconds(weir.pid) - begun, memory: memoryMb(weir.pid) };
    };

    await reaches();
    await cost();
    const without = await cost();
    await settled();
    await manage('POST', '/rules', { list: 'wide', value: '44.0.0.0/8', action: 'block' });
    const during = await cost();

    const network = (n: number) => `${(n + 32) >> 4}.${((n + 32) & 15) << 4}.0.0/12`;
    const entries: Record<string, (n: number) => Promise<unknown>> = {
      signals: (n) => send('wide', [network(n)]),
      'a rule by hand': (n) => manage('POST', '/rules', { list: 'wide', value: network(n), action: 'block' }),
      'an import': (n) => manage('POST', '/imports?format=csv&list=wide', `ip\n${network(n)}`),
      'a country': (n) => manage('POST', '/rules', { list: 'wide', value: `AS${64_500 + n}`, action: 'block' }),
      'settings of a feed': (n) => manage('PATCH', `/feeds/${feedId}`, { subtract_allow: n % 2 === 0 ? 'on' : 'off' }),
      'settings of a list': (n) => manage('PATCH', `/lists/${ids[1]}`, { widen_v4: n % 2 === 0 ? 24 : null }),
      'guard rails': (n) => manage('PATCH', '/workspace', { protect: [`20.${n % 70}.0.0/16`] }),
    };
    let [late, kills, received] = [0, 0, 0];
    for (let n = 0; n < CHANGES; n += 1) {
      const change = pick(Object.values(entries))(n).catch(() => {});
      const during = fetch(CANARIES + below(DEVICES - CANARIES)).catch(() => {});
      if (below(4) === 0) {
        await sleep(below(30));
        await weir.kill('SIGKILL');
        kills += 1;
        weir = await startWeir(settings);
      }
      await Promise.all([change, during]);
      if (!(await reaches())) late += 1;
      if ((await fetch(0)).canary.startsWith('receives')) received += 1;
      if (below(3) === 0 && (await manage('POST', '/canary/promote', { feed: 'edges' })).status === 200) await settled();
    }
    const what = `${CHANGES} large changes, ${kills} kills, ${polls} polls of ${DEVICES - CANARIES} others`;
    return [
      { what: `${what}: polls with a large change`, figure: wrong, limit: 0 },
      { what: `${what}: small blocks later than a minute`, figure: late, limit: 0 },
      { what: `${what}: changes after which canaries had another feed`, figure: received, limit: CHANGES / 2, least: true },
      { what: `processor time of ${ROUNDS} small changes during a canary, times without`, figure: during.cpu / without.cpu, limit: 3 },
      { what: 'memory during a canary, times without', figure: during.memory / without.memory, limit: 1.5 },
    ];
  } finally {
    await weir.kill('SIGKILL');
  }
}
