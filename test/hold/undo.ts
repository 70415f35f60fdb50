/** What undo previews of one tenant can take from the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { newKey, newTenant } from '../support/command.ts';
import { ask, bearer, postSignals, type Reply } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const BATCHES = 50;
const ENTRIES = 1000;
/** Previews at a time. */
const AT_ONCE = 2;

/** Previews of undoing 50 batches that replaced the same 1,000 rules, several at once: polls of another tenant meanwhile. */
export const undoPreviews = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const { url } = weir;
    const { workspaceId } = await newTenant({ ...settings }, { organization: 'default', workspace: 'undoes' });
    const permissions = ['signal:write', 'rules:read', 'rules:write'].flatMap((permission) => ['--permission', permission]);
    const key = await newKey({ ...settings }, workspaceId, ...permissions);
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
    const neighbour = await neighbourOf(weir, settings);
    const body = JSON.stringify({ batches, preview: true });
    let longest = 0;
    let whole = 0;
    const preview = async () => {
      const began = performance.now();
      let answer: Reply = await ask(url, '/v1/manage/undo', { method: 'POST', headers, body });
      longest = Math.max(longest, performance.now() - began);
      for (; answer.status === 202; answer = await ask(url, String(answer.headers.location), { headers: bearer(key) })) await sleep(250);
      if (answer.status === 200 && JSON.parse(answer.text).undone.length === BATCHES) whole += 1;
    };
    const what = `${AT_ONCE} undo previews of ${BATCHES} batches of ${ENTRIES}`;
    const polls = await neighbour.during(what, () => Promise.all(Array.from({ length: AT_ONCE }, preview)));
    return [
      { what: `${what}: told in the end`, figure: whole, limit: AT_ONCE, least: true },
      { what: `${what}: until any answer, ms`, figure: longest, limit: 30_000 },
      ...polls,
      neighbour.memory(what),
    ];
  });
