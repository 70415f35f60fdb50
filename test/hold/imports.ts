/** What large and senseless imports do to others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { quantile } from '../../bench/support/load.ts';
import { watchMachine } from '../../bench/support/machine.ts';
import { memoryMb } from '../../bench/support/process.ts';
import { newTenant } from '../support/command.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';

const IMPORTS = 8;
const BYTES = 4 * 1024 * 1024;
/** How long the polls of another workspace are watched, ms. */
const WATCHED = 8000;

/** Bodies that hold next to nothing in as many lines as they can. */
const BODIES = { 'blank lines': '\n', comments: '#\n', 'rows that ask for nothing': '{}\n' } as const;

/** Eight imports of 4 MiB at once, of each kind: the polls of another workspace, answers within 30 s, and memory. */
export async function importsOfLines(settings: Settings): Promise<Figure[]> {
  return on({ ...settings, FEED_REBUILD_SECONDS: '0' }, async ({ url, pid }) => {
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'other' });
    await postSignals(url, key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    await getFeed(url, key);
    const idle = memoryMb(pid);
    const figures: Figure[] = [];
    for (const [what, line] of Object.entries(BODIES)) {
      const body = line.repeat(BYTES / line.length);
      const format = line.startsWith('{') ? 'suricata' : 'text';
      const machine = await watchMachine();
      const began = performance.now();
      let unanswered = IMPORTS;
      const imports = Array.from({ length: IMPORTS }, async () => {
        const response = await fetch(`${url}/v1/manage/imports?format=${format}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}` },
          body,
        });
        await response.text();
        unanswered -= 1;
      });
      const took: number[] = [];
      while (performance.now() - began < WATCHED) {
        const from = performance.now();
        await getFeed(url, key);
        took.push(performance.now() - from);
        await sleep(20);
      }
      const bare = quantile(await machine.end(), 1);
      await Promise.race([Promise.all(imports), sleep(30_000 - WATCHED)]);
      figures.push(
        {
          what: `${IMPORTS} imports of 4 MiB of ${what}: worst poll of another workspace, ms`,
          figure: Math.max(...took),
          limit: 50,
          machine: bare,
        },
        { what: `${IMPORTS} imports of 4 MiB of ${what}: without an answer after 30 s`, figure: unanswered, limit: 0 },
      );
    }
    figures.push({ what: 'imports of lines: memory over idle, MiB', figure: memoryMb(pid, 'VmHWM') - idle, limit: 200 });
    return figures;
  });
}
