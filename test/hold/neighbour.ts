/** What one tenant's requests take from the others: the polls of another workspace, and the memory of the process. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Figure } from '../../bench/support/figures.ts';
import { watchMachine } from '../../bench/support/machine.ts';
import { memoryMb } from '../../bench/support/process.ts';
import { STALLS, stallsOf } from '../../bench/support/stalls-of.ts';
import { newTenant } from '../support/command.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { eventually, type Weir } from '../support/weir.ts';
import type { Settings } from './checks.ts';

/** Memory over idle, MiB, and the worst poll over the machine's own share, ms. */
const MEMORY = 200;
const POLL = 50;
/** Between two requests to the bare server, ms: as often as the neighbour polls, so that its worst one is of as many. */
const PACE = 5;

/** Settings of a server that has a neighbour. */
export const WATCHED = STALLS;

export interface Neighbour {
  /** The key of the other workspace. */
  readonly key: string;
  /**
   * What `work` takes: the worst poll meanwhile, beside what the machine added at the same time (how long a bare server in a thread made its
   * client wait, and how much longer weir's turns lasted than they worked), and the longest turn by itself.
   */
  during(what: string, work: () => Promise<unknown>): Promise<Figure[]>;
  /** The most memory that the process has had since, over what it had before. */
  memory(what: string): Figure;
}

/** Makes another workspace with a rule, whose feed has been read. */
export async function neighbourOf(weir: Weir, settings: Settings): Promise<Neighbour> {
  const { url, pid } = weir;
  const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'neighbour' });
  await postSignals(url, key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
  await eventually(async () => {
    if ((await getFeed(url, key)).status !== 200) throw new Error('the feed is not served yet');
  });
  const idle = memoryMb(pid);
  return {
    key,
    async during(what, work) {
      await stallsOf(weir);
      const thread = new Worker(new URL('./neighbour.thread.ts', import.meta.url), { workerData: { url, key } });
      await once(thread, 'message');
      const machine = await watchMachine(PACE);
      try {
        await work();
        thread.postMessage('end');
        const [waits] = (await once(thread, 'message')) as [number[]];
        const { turns, stretch } = await stallsOf(weir);
        const share = worst(await machine.end()) + POLL * (stretch - 1);
        return [
          { what: `${what}: worst poll of another tenant, ms`, figure: worst(waits), limit: POLL, machine: share },
          { what: `${what}: longest turn of the event loop, ms of CPU`, figure: worst(turns), limit: POLL },
        ];
      } finally {
        await thread.terminate();
      }
    },
    memory: (what) => ({ what: `${what}: memory over idle, MiB`, figure: memoryMb(pid, 'VmHWM') - idle, limit: MEMORY }),
  };
}

const worst = (waits: readonly number[]): number => waits.reduce((most, each) => Math.max(most, each), 0);
