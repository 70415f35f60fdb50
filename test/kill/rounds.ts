/** Rounds one after the other on the same data: what is sent, what is harmed meanwhile, and whether all is right afterwards. */

import { must } from './api.ts';
import { letPoll } from './appliance.ts';
import { checkRound } from './check.ts';
import { harmAll } from './harms.ts';
import { openScene, type Scene } from './house.ts';
import type { Round } from './plan.ts';
import { sendActs, sendChanges } from './senders.ts';
import type { World } from './world.ts';

/** What rounds came to. */
export interface Tally {
  rounds: number;
  /** Acknowledged entries and other acts. */
  acknowledged: number;
  /** Tries without an answer or answered 500. */
  failed: number;
  harms: number;
}

/** Where its seconds went. */
async function runRound(scene: Scene, round: Round, tally: Tally): Promise<string> {
  const times: string[] = [];
  let begun = performance.now();
  const note = (what: string) => {
    times.push(`${((performance.now() - begun) / 1000).toFixed(1)} s ${what}`);
    begun = performance.now();
  };
  const { world, senders, sent, setter, settings, publish } = scene;
  const from = sent.length;
  const stop = letPoll(scene.appliances);
  const sending = Promise.all([
    ...Object.entries(round.acts).map(([list, acts]) => sendActs(senders.get(list)!, list, acts, sent, world)),
    sendChanges(setter, round.changes, settings, publish),
  ]);
  sending.catch(() => {});
  await harmAll(world, round.harms);
  note('harmed');
  const stuck = Promise.withResolvers<never>();
  const timer = setTimeout(() => stuck.reject(new Error('clients get no answer although all is well')), world.patience.answers);
  await Promise.race([sending, stuck.promise]).finally(() => clearTimeout(timer));
  note('sent');
  await stop();
  note('polled');
  await checkRound(scene, round, from, note);
  const mine = sent.slice(from);
  tally.rounds += 1;
  tally.harms += round.harms.length;
  tally.acknowledged += mine
    .filter(({ outcome }) => outcome === 'taken')
    .reduce((sum, { what }) => sum + ('entries' in what ? what.entries.length : 1), 0);
  tally.failed += mine.filter(({ outcome }) => outcome !== 'taken' && outcome !== 'nothing').length;
  return times.join(', ');
}

/** Runs rounds in a fresh world; rejects at the first broken promise, with the number of its round in `tally`. */
export async function runRounds(
  startWorld: (origin: number) => Promise<World>,
  rounds: Iterable<Round> | ((world: World) => Iterable<Round>),
  tally: Tally,
  report: (line: string) => void = () => {},
): Promise<void> {
  const scene = await openScene(startWorld);
  try {
    for (const round of typeof rounds === 'function' ? rounds(scene.world) : rounds) {
      const times = await runRound(scene, round, tally);
      report(`round ${tally.rounds}: ${round.harms.map(({ harm, to }) => `${harm} ${to}`).join(', ')} (${times})`);
    }
    must(scene.world.ended.length === 0, scene.world.ended.join('\n'));
  } finally {
    await scene.close();
  }
}
