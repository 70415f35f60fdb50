/** An hour of a feed on a clock of its own: what stays, what is renewed again and again, and thousands of changes in between. */
import { BouncerReplica } from './bouncer-world.ts';
import { ManualClock, MemoryStore } from './feed-world.ts';

interface Renewed {
  readonly id: number;
  readonly ttl: number;
  /** Renewed every so many seconds, from this second on. */
  readonly every: number;
  readonly from: number;
}

export class FeedHour {
  readonly clock = new ManualClock();
  readonly replica: BouncerReplica;
  /** Networks that the feed has for all of the hour. */
  readonly stable: readonly string[];
  readonly #store = new MemoryStore(this.clock);
  readonly #list = this.#store.addList('edge', {});
  readonly #renewed: readonly Renewed[];
  #second = 0;
  #passing: number[] = [];
  readonly #many: number;

  /** `many`: networks that come at once, and go at once. */
  constructor(many: number) {
    this.#many = many;
    const hosts = (block: number, count: number) => Array.from({ length: count }, (_, n) => `10.${block}.${n}.1`);
    const [always, week, long, short] = [hosts(1, 100), hosts(2, 100), hosts(3, 100), hosts(4, 20)];
    for (const host of always) this.#store.add(this.#list, host);
    for (const host of week) this.#store.add(this.#list, host, { ttl: 7 * 86_400 });
    const renewing = (list: readonly string[], ttl: number, every: number) =>
      list.map((host, n) => ({ id: this.#store.add(this.#list, host, { ttl }), ttl, every, from: (n * 7) % every }));
    this.#renewed = [...renewing(long, 1200, 480), ...renewing(short, 600, 240)];
    this.stable = [...always, ...week, ...long, ...short];
    this.replica = new BouncerReplica(this.clock, this.#store, { rebuildSeconds: 30 });
  }

  /** Seconds that have passed. */
  get second(): number {
    return this.#second;
  }

  async advance(seconds: number): Promise<void> {
    const before = this.#second;
    this.#second += seconds;
    await this.clock.advance(seconds * 1000);
    for (const { id, ttl, every, from } of this.#renewed) {
      if (Math.floor((this.#second - from) / every) > Math.floor((before - from) / every)) this.#store.renew(id, ttl);
    }
    const hasPassed = (second: number) => before < second && this.#second >= second;
    if (hasPassed(1100)) {
      const hosts = Array.from({ length: this.#many }, (_, n) => `10.5.${n >> 7}.${2 * (n & 127)}`);
      this.#passing = hosts.map((host) => this.#store.add(this.#list, host));
    }
    if (hasPassed(2300)) for (const id of this.#passing) this.#store.remove(id);
  }
}
