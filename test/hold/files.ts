/** What files of workspaces at their bounds do to others. */
import type { Figure } from '../../bench/support/figures.ts';
import { ask, bearer } from '../support/http.ts';
import { KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const THINGS = 1240;
/** As long as a description may be, so that the file has nearly 1 MiB. */
const LONG = 380;

const file = (cap: number) => ({
  lists: Array.from({ length: THINGS }, (_, n) => ({ name: `list-${n}`, description: 'x'.repeat(LONG), max_entries: cap })),
  feeds: Array.from({ length: 990 }, (_, n) => ({
    name: `feed-${n}`,
    lists: [`list-${n}`],
    target: 'pan-os',
    description: 'x'.repeat(LONG),
  })),
  keys: Array.from({ length: 250 }, (_, n) => ({ name: `key-${n}`, feed: `feed-${n}` })),
});

/** A file of 2,480 things that makes them, changes a half, is wrong throughout, and is read: the polls of another workspace, and memory. */
export const filesOfWorkspaces = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const neighbour = await neighbourOf(weir, settings);
    const what = `files of ${2 * THINGS} things of one workspace`;
    let answered = 0;
    const apply = async (given: object, expected: number) => {
      const { status } = await ask(weir.url, '/v1/manage/workspace/apply', {
        method: 'POST',
        headers: bearer(KEY),
        body: JSON.stringify(given),
      });
      if (status === expected) answered += 1;
    };
    const figures = await neighbour.during(what, async () => {
      await apply(file(5000), 200);
      await Promise.all(Array.from({ length: 8 }, (_, n) => apply(file(6000 + n), 200)));
      await apply({ lists: Array.from({ length: 99_000 }, () => ({})) }, 400);
      const { status } = await ask(weir.url, '/v1/manage/workspace/file', { headers: bearer(KEY) });
      if (status === 200) answered += 1;
    });
    return [...figures, { what: `${what}: answered`, figure: answered, limit: 11, least: true }, neighbour.memory(what)];
  });
