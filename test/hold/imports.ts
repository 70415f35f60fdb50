/** What large and senseless imports do to others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { ask, bearer } from '../support/http.ts';
import { KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const IMPORTS = 8;
const BYTES = 4 * 1024 * 1024;
/** How long polls are watched at least, and how long answers may take, ms. */
const LEAST = 5000;
const ANSWERED = 30_000;

const hosts = (block: number) => Array.from({ length: 10_000 }, (_, n) => `20.${block}.${n >> 8}.${n & 255},${'r'.repeat(300)}`).join('\n');
const filled = (line: string) => line.repeat(BYTES / line.length);

/** Bodies that hold next to nothing in as many lines as they can, or as much as an import takes; the n-th of several at once. */
const BODIES: Readonly<Record<string, { readonly query: string; body(n: number): string }>> = {
  'blank lines': { query: 'format=text', body: () => filled('\n') },
  comments: { query: 'format=text', body: () => filled('#\n') },
  'rows that ask for nothing': { query: 'format=suricata', body: () => filled('{}\n') },
  '10,000 entries, previewed': { query: 'format=csv&preview=1', body: (n) => `ip,reason\n${hosts(n)}` },
  '10,000 entries': { query: 'format=csv', body: (n) => `ip,reason\n${hosts(n)}` },
};

/** Eight imports at once, of each kind: the polls of another workspace, answers within 30 s, and memory. */
export const importsOfLines = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const neighbour = await neighbourOf(weir, settings);
    const figures: Figure[] = [];
    for (const [kind, { query, body }] of Object.entries(BODIES)) {
      const what = `${IMPORTS} imports at once, of ${kind}`;
      let unanswered = IMPORTS;
      const one = async (n: number) => {
        const options = { method: 'POST', headers: bearer(KEY), body: body(n) };
        const { status } = await ask(weir.url, `/v1/manage/imports?${query}`, options);
        if (status > 0) unanswered -= 1;
      };
      figures.push(
        ...(await neighbour.during(what, async () => {
          const all = Promise.all(Array.from({ length: IMPORTS }, (_, n) => one(n)));
          await Promise.all([Promise.race([all, sleep(ANSWERED)]), sleep(LEAST)]);
        })),
      );
      figures.push({ what: `${what}: without an answer after 30 s`, figure: unanswered, limit: 0 });
    }
    return [...figures, neighbour.memory('imports')];
  });
