/** What undo previews of one tenant can take from the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { watchMachine } from '../../bench/support/machine.ts';
import { memoryMb } from '../../bench/support/process.ts';
import { newKey, newTenant } from '../support/command.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { eventually, KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';

const BATCHES = 50;
const ENTRIES = 1000;
/** Previews at a time. */
const AT_ONCE = 2;

/** Previews of undoing 50 batches that replaced the same 1,000 rules, several at once: polls of another tenant, and the health, meanwhile. */
export const undoPreviews = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, RATE_LIMIT_MANAGE: '0' }, async ({ url, pid }) => {
    const { workspaceId } = await newTenant({ ...settings }, { organization: 'default', workspace: 'undoes' });
    const permissions = ['signal:write', 'rules:read', 'rules:write'].flatMap((permission) => ['--permission', permission]);
    const key = await newKey({ ...settings }, workspaceId, ...permissions);
    await postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    const batches: string[] = [];
    for (let n = 0; n < BATCHES; n += 1) {
      const entries = Array.from({ length: ENTRIES }, (_, i) => ({
        ...{ type: 'access_rules', action: 'block', ip: `24.0.${i >> 8}.${i & 255}`, description: `batch ${n}` },
      }));
      batches.push(String((await postSignals(url, key, entries)).headers['x-signal-batch']));
    }
    const headers = bearer(key);
    await eventually(async () => {
      const { text } = await ask(url, `/v1/manage/batches?limit=${BATCHES}`, { headers });
      if (JSON.parse(text).batches.length < BATCHES) throw new Error('not all has landed');
    }, 60_000);
    const idle = memoryMb(pid);
    const machine = await watchMachine();
    let busy = true;
    const waits: number[] = [];
    const polling = (async () => {
      while (busy) {
        for (const request of [() => getFeed(url, KEY), () => ask(url, '/healthz')]) {
          const began = performance.now();
          const { status } = await request();
          waits.push(status === 200 ? performance.now() - began : Number.POSITIVE_INFINITY);
        }
        await sleep(5);
      }
    })();
    // A server that is gone is told by the previews.
    polling.catch(() => undefined);
    const body = JSON.stringify({ batches, preview: true });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => ask(url, '/v1/manage/undo', { method: 'POST', headers, body })),
    );
    busy = false;
    await polling;
    const bare = Math.max(...(await machine.end()));
    const what = `${AT_ONCE} undo previews of ${BATCHES} batches of ${ENTRIES}`;
    return [
      { what: `${what}: answered 200`, figure: answers.filter(({ status }) => status === 200).length, limit: AT_ONCE, least: true },
      { what: `${what}: a poll of another tenant, worst ms`, figure: Math.max(...waits), limit: 50, machine: bare },
      { what: `${what}: memory over idle, MiB`, figure: memoryMb(pid, 'VmHWM') - idle, limit: 200 },
    ];
  });
