/** A device that polls a feed, as devices do: it keeps what it got, and asks whether that has changed. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { must, openClient } from './api.ts';
import type { View } from './views.ts';
import type { World } from './world.ts';

/** By what it asks. */
export const HABITS = ['tag', 'date', 'both', 'gzip', 'nothing'] as const;
export type Habit = (typeof HABITS)[number];

/** What all devices have seen together: one tag names one content (D5.10), and dates of a place, while nothing allows them to, never go back (D5.15, D5.18). */
class Witness {
  readonly #contents = new Map<string, string>();
  readonly #dates = new Map<string, number>();

  /** The latest date that a place has told. */
  latest(place: string): number {
    return this.#dates.get(place) ?? 0;
  }

  /** An answer to what was asked when `latest` was the latest date. */
  see(place: string, latest: number, { etag, date, body }: { readonly etag: string; readonly date: string; readonly body: Buffer }): void {
    const [digest, at] = [createHash('sha256').update(body).digest('hex'), Date.parse(date)];
    must((this.#contents.get(etag) ?? digest) === digest, `${etag} names two contents at ${place}`);
    this.#contents.set(etag, digest);
    // The first instant of all is no date (D35.1).
    if (at === 0) return;
    must(at >= latest, `Last-Modified goes back at ${place}: ${date} after ${new Date(latest).toUTCString()}`);
    this.#dates.set(place, Math.max(at, this.latest(place)));
  }
}

export interface Appliance {
  readonly name: string;
  /** It asks one replica after the other, which may be a moment apart. */
  readonly roams: boolean;
  readonly view: View;
  /** What it enforces; null: nothing yet; undefined: the feed is over its cap, and it keeps what it has. */
  readonly held: string | null;
  /** Contents in the order in which it got them; somebody else empties it. */
  got: string[];
  /** The status of its last answer. */
  readonly status: number | undefined;
  poll(): Promise<void>;
  close(): void;
}

interface Place {
  readonly port: number;
  readonly roams: boolean;
  /** Another text when dates of a view may go back (D5.18). */
  era(view: View): string;
}

function makeAppliance({ port, roams, era }: Place, key: string, view: View, habit: Habit, witness: Witness): Appliance {
  const client = openClient(port, key);
  const name = `${view || 'workspace'} by ${habit} at ${roams ? 'any' : port}`;
  let held: { readonly text: string; readonly etag: string; readonly date: string } | null = null;
  let status: number | undefined;

  async function poll(): Promise<void> {
    const conditions = {
      ...(held !== null && habit !== 'date' && habit !== 'nothing' && { 'if-none-match': held.etag }),
      ...(held !== null && (habit === 'date' || habit === 'both') && { 'if-modified-since': held.date }),
      ...(habit === 'gzip' && { 'accept-encoding': 'gzip' }),
    };
    const place = `${view} ${habit === 'gzip'} at ${port}${era(view)}`;
    const latest = witness.latest(place);
    const reply = await client.ask(`/v1/threat/feeds${view}`, { headers: conditions });
    status = reply?.status;
    if (reply === undefined) return;
    must([200, 304, 413, 500].includes(reply.status), `${name} is answered ${reply.status}: ${reply.body}`);
    must(reply.status !== 413 || view === '/mixed', `${name} is over its cap: ${reply.body}`);
    must(reply.status !== 304 || held !== null, `${name} is answered 304, and has nothing`);
    if (reply.status === 304)
      must(
        habit === 'date' || reply.headers.etag === held!.etag,
        `${name} is answered 304 of ${reply.headers.etag}, and has ${held!.etag}`,
      );
    if (reply.status !== 200) return;
    const [etag, date] = [reply.headers.etag!, reply.headers['last-modified']!];
    witness.see(place, latest, { etag, date, body: reply.body });
    const text = (reply.headers['content-encoding'] === 'gzip' ? gunzipSync(reply.body) : reply.body).toString();
    held = { text, etag, date };
    if (appliance.got.at(-1) !== text) appliance.got.push(text);
  }

  const appliance: Appliance = {
    ...{ name, view, roams, poll, close: () => client.close() },
    got: [],
    get held() {
      return held?.text ?? null;
    },
    get status() {
      return status;
    },
  };
  return appliance;
}

/** One device of each habit for each view, over the ports of feeds in turn, and one more for each view that roams. `era`: of the moment. */
export function makeAppliances({ ports, key }: Pick<World, 'ports' | 'key'>, views: readonly View[], era: Place['era']): Appliance[] {
  const witness = new Witness();
  let polls = 0;
  const fixed = ports.feeds.map((port): Place => ({ port, roams: false, era }));
  const roaming = ports.any === undefined ? [] : [{ port: ports.any, roams: true, era: () => `, poll ${++polls}` }];
  return views.flatMap((view, at) => [
    ...HABITS.map((habit, n) => makeAppliance(fixed[(at + n) % fixed.length]!, key, view, habit, witness)),
    ...roaming.map((place) => makeAppliance(place, key, view, HABITS[at % HABITS.length]!, witness)),
  ]);
}

/** Between two polls of a device, ms. */
const INTERVAL = 1000;

/** Lets them poll until they are stopped; what is returned stops them, and rejects at the first broken promise. */
export function letPoll(appliances: readonly Appliance[]): () => Promise<void> {
  const stopped = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {});
  const polling = Promise.all(
    appliances.map(async (each, n) => {
      await pause((INTERVAL * n) / appliances.length);
      while (!stopped.signal.aborted) {
        await each.poll();
        await pause(INTERVAL);
      }
    }),
  );
  polling.catch(() => {});
  return async () => {
    stopped.abort();
    await polling;
  };
}
