/** The clients that change something: one for each list, one after the other within it, and one that sets what is set. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, must, type Reply, told } from './api.ts';
import type { Entry, Landed } from './model.ts';
import type { Act, Change } from './plan.ts';
import type { World } from './world.ts';

/** What was sent once. */
export interface Sent {
  readonly list: string;
  readonly what: { readonly entries: readonly Entry[] } | { readonly undoes: string } | { readonly group: string };
  /** `taken`: acknowledged; `refused`: answered 500; `unknown`: no answer; `nothing`: there was nothing to do. */
  readonly outcome: 'taken' | 'refused' | 'unknown' | 'nothing';
  /** Where it was taken. */
  readonly batch?: string;
  /** Which life of the process told the outcome (`lives` of the world). */
  readonly life?: number;
}

/** Between two tries, ms. */
const PAUSE = 100;

/** Sends the acts of a list, each until it is answered, and writes down what became of every try. */
export async function sendActs(
  client: Client,
  list: string,
  acts: readonly Act[],
  log: Sent[],
  { clock: { now }, lives = () => 0 }: Pick<World, 'clock' | 'lives'>,
): Promise<void> {
  const mine = log.filter((each) => each.list === list);
  const note = (outcome: Sent) => {
    const sent = { ...outcome, life: lives() };
    log.push(sent);
    mine.push(sent);
    return sent;
  };
  for (const act of acts) {
    await sleep(act.after);
    if (act.do === 'post') await post(client, list, act, note, now);
    else if (act.do === 'clear')
      await manage(client, list, 'rules/delete', { list, label: `group:${act.group}` }, { group: act.group }, note);
    else {
      const batches = mine.filter(({ batch, what }) => batch !== undefined && !('undoes' in what)).map(({ batch }) => batch!);
      const undoes = batches.at(-1 - act.back);
      if (undoes === undefined) continue;
      const done = await manage(client, list, 'undo', { batches: [undoes] }, { undoes }, note);
      if (act.twice && done?.batch !== undefined) {
        await manage(client, list, 'undo', { batches: [done.batch] }, { undoes: done.batch }, note);
      }
    }
  }
}

/** The entry as it is sent: `seconds` from now on become an instant. */
const dated = ({ seconds, ...entry }: Entry & { readonly seconds?: number }, now: number): Entry =>
  seconds === undefined ? entry : { ...entry, expires_at: new Date(Math.ceil(now / 1000 + seconds) * 1000).toISOString() };

async function post(client: Client, list: string, act: Act & { readonly do: 'post' }, note: (sent: Sent) => Sent, now: () => number) {
  const entries = act.entries.map((entry) => dated(entry, now()));
  do {
    const reply = await client.ask(`/${act.v1 ? 'v1' : 'v2'}/signal?list=${list}`, { method: 'POST', body: entries });
    must([undefined, 200, 500].includes(reply?.status), `a batch is answered ${reply?.status}: ${reply?.body}`);
    const batch = reply?.headers['x-signal-batch'];
    if (reply?.status === 200) return note({ list, what: { entries }, outcome: 'taken', batch: batch! });
    note({ list, what: { entries }, outcome: reply === undefined ? 'unknown' : 'refused' });
    await sleep(PAUSE);
  } while (!act.once);
}

/** Asks management for a change until it is answered. */
async function manage(
  client: Client,
  list: string,
  path: string,
  body: object,
  what: Sent['what'],
  note: (sent: Sent) => Sent,
): Promise<Sent> {
  for (;;) {
    const reply = await client.ask(`/v1/manage/${path}`, { method: 'POST', body });
    const of = (reply: Reply) => (reply.status === 409 ? [] : told(reply).batches) as string[] | undefined;
    must([undefined, 200, 202, 409, 500].includes(reply?.status), `${path} is answered ${reply?.status}: ${reply?.body}`);
    // Nothing was done, because what came before has not landed yet (D34.3).
    const isEarly = reply?.status === 409 && reply.body.includes('have not landed: try again');
    if (reply !== undefined && reply.status !== 500 && !isEarly && of(reply) !== undefined) {
      const batch = of(reply)![0];
      return note({ list, what, ...(batch === undefined ? { outcome: 'nothing' } : { outcome: 'taken', batch }) });
    }
    if (!isEarly) note({ list, what, outcome: reply?.status === 500 ? 'refused' : 'unknown' });
    await sleep(PAUSE);
  }
}

/** What was told to be set, by `feed family` and the like, in the order in which it was; `known`: acknowledged. */
export type Settings = Map<string, { readonly value: unknown; readonly known: boolean }[]>;

/** Sets what is set; the content of the source is published by `publish`. */
export async function sendChanges(
  client: Client,
  changes: readonly Change[],
  settings: Settings,
  publish: (content: readonly number[]) => void,
) {
  for (const change of changes) {
    if ('source' in change) {
      publish(change.source);
      await client.ask('/v1/manage/sources/origin/refresh', { method: 'POST', body: {} });
      continue;
    }
    const { set, field, value } = change;
    const path = set === 'feed' ? '/v1/manage/feeds/mixed' : '/v1/manage/workspace';
    const tries = settings.get(`${set} ${field}`) ?? [];
    settings.set(`${set} ${field}`, tries);
    for (let isDone = false; !isDone; ) {
      const reply = await client.ask(path, { method: 'PATCH', headers: { 'if-match': '*' }, body: { [field]: value } });
      must([undefined, 200, 500].includes(reply?.status), `a setting is answered ${reply?.status}: ${reply?.body}`);
      isDone = reply?.status === 200;
      tries.push({ value, known: isDone });
      if (!isDone) await sleep(PAUSE);
    }
  }
}

/** A batch that landed, as the model takes it. */
export const landedOf = (batch: string, { what }: Sent): Landed => ({ batch, ...what });
