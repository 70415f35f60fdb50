/** What the adversary does, by name. Each makes good again what it did, but for the clock. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from './links.ts';
import type { Harm } from './plan.ts';
import type { World } from './world.ts';

type Doing = (world: World, harm: Harm) => Promise<void>;

const link =
  (mode: Mode): Doing =>
  async ({ links }, { to, ms }) => {
    links.get(to)!.set(mode);
    await sleep(ms);
    links.get(to)!.set('pass');
  };

const HARMS: Readonly<Record<string, Doing>> = {
  kill: ({ parts }, { to, ms }) => parts.get(to)!.kill(ms / 4),
  'kill twice': async ({ parts }, { to, ms }) => {
    const again = sleep(ms / 2).then(() => parts.get(to)!.kill(0));
    await Promise.all([parts.get(to)!.kill(0), again]);
  },
  term: ({ parts }, { to }) => parts.get(to)!.term!(),
  async pause({ parts }, { to, ms }) {
    parts.get(to)!.pause();
    await sleep(ms);
    parts.get(to)!.resume();
  },
  cut: async ({ links }, { to }) => links.get(to)!.cut(),
  hang: link('hang'),
  slow: link('slow'),
  refuse: link('refuse'),
  lose: link('lose'),
  clock: async ({ clock }, { off }) => clock.set(off!),
};

/** Does all of these at their time; resolves when the last has been made good. */
export async function harmAll(world: World, harms: readonly Harm[]): Promise<void> {
  await Promise.all(
    harms.map(async (harm) => {
      await sleep(harm.at);
      await (world.own[harm.harm]?.(harm) ?? HARMS[harm.harm]!(world, harm));
    }),
  );
}
