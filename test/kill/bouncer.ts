/** A bouncer on the stream (SPEC D14): it keeps what it was told until that is deleted or its time has passed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { must, openClient, told } from './api.ts';

interface Decision {
  readonly value: string;
  readonly duration: string;
}

export interface Bouncer {
  /** What it enforces now, each with the ms for which it was told. */
  held(): Map<string, number>;
  /** Rejects at the first broken promise. */
  stop(): Promise<void>;
}

/** ms of a duration as Go writes it. */
export function millisecondsOf(duration: string): number {
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  const parts = [...duration.matchAll(/([\d.]+)(h|ms|m|s)/g)].map(([, number, unit]) => Number(number) * units[unit!]!);
  return parts.reduce((sum, part) => sum + part, 0) * (duration.startsWith('-') ? -1 : 1);
}

/** Between two pulls, ms. */
const INTERVAL = 700;

/** Starts to pull at once. */
export function startBouncer(port: number, key: string, name: string): Bouncer {
  const client = openClient(port, key);
  const held = new Map<string, { readonly until: number; readonly told: number }>();
  let [isFirst, stopped] = [true, false];

  async function pull(): Promise<void> {
    const headers = { 'x-api-key': key, 'user-agent': name };
    const reply = await client.ask(`/v1/decisions/stream${isFirst ? '?startup=true' : ''}`, { headers });
    if (reply === undefined) return;
    must([200, 500].includes(reply.status), `the bouncer ${name} is answered ${reply.status}: ${reply.body}`);
    if (reply.status !== 200) return;
    isFirst = false;
    const { new: come, deleted } = told(reply) as { new: Decision[] | null; deleted: Decision[] | null };
    const back = (come ?? []).filter(({ value }) => deleted?.some((each) => each.value === value));
    must(back.length === 0, `the bouncer ${name} is told that ${back[0]?.value} came and went`);
    for (const { value } of deleted ?? []) held.delete(value);
    for (const { value, duration } of come ?? []) {
      const told = millisecondsOf(duration);
      held.set(value, { until: performance.now() + told, told });
    }
  }

  const pulling = (async () => {
    while (!stopped) {
      await pull();
      await sleep(INTERVAL);
    }
    client.close();
  })();
  pulling.catch(() => {});
  return {
    held: () => new Map([...held].filter(([, { until }]) => until > performance.now()).map(([value, { told }]) => [value, told])),
    async stop() {
      stopped = true;
      await pulling;
    },
  };
}
