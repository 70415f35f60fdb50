/** Bouncers that are told of lists (D31): of which list a network is, and clients that hold a set for each. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BouncerReplica, type Decision, type StreamBody, secondsOf, valuesOf } from '../../support/bouncer-world.ts';
import { ManualClock, MemoryStore } from '../../support/feed-world.ts';
import { seededRandom } from '../../support/random.ts';

function world() {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const lists = ['one', 'two', 'three'].map((name) => store.addList(name));
  const feed = store.addFeed('fw', lists, { origins: 'lists' });
  const start = () => new BouncerReplica(clock, store, { rebuildSeconds: 1 });
  return { clock, store, lists, feed, start, bound: { feedId: feed } };
}

/** What a firewall holds that has a set for each origin and, of lists, scenario: what is deleted of a set leaves that set alone. */
class SetKernel {
  readonly sets = new Map<string, Map<string, number>>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  apply({ new: fresh, deleted }: StreamBody): void {
    this.held();
    for (const decision of deleted) this.sets.get(setOf(decision))?.delete(decision.value);
    for (const decision of fresh) {
      const set = this.sets.get(setOf(decision)) ?? new Map<string, number>();
      this.sets.set(setOf(decision), set.set(decision.value, this.#clock.now() + secondsOf(decision.duration) * 1000));
    }
  }

  /** Each value with its set. */
  held(): string[] {
    for (const set of this.sets.values()) for (const [value, until] of set) if (until <= this.#clock.now()) set.delete(value);
    return [...this.sets].flatMap(([name, set]) => [...set.keys()].map((value) => `${value} ${name}`)).sort();
  }
}

const setOf = ({ origin, scenario }: Decision) => (origin === 'lists' ? `lists:${scenario}` : origin);
const told = (decisions: readonly Decision[]) => decisions.map((each) => `${each.value} ${setOf(each)}`).sort();

describe('D31 decisions of lists', () => {
  test('D31.1, D31.2 each network is of the list that completes it in the order of the feed, also in look-ups; the default is as before', async () => {
    const { clock, store, lists, feed, start, bound } = world();
    const [one, two, three] = lists;
    store.add(two, '192.0.2.0/24');
    store.add(one, '192.0.2.7');
    store.add(one, '198.51.100.0/25');
    store.add(two, '198.51.100.128/25');
    store.add(three, '198.51.100.0/24');
    store.add(three, '2001:db8::7');
    const replica = start();
    const pull = (query = 'startup=true') => replica.pull(query, 'test/1', bound);
    const all = ['192.0.2.0/24 lists:two', '198.51.100.0/24 lists:two', '2001:db8::7 lists:three'];
    assert.deepEqual(told((await pull()).new), all);
    const look = async (ip: string) => told(JSON.parse((await replica.ask('current', `ip=${ip}`, 'test/1', bound)).text));
    assert.deepEqual(await look('2001:db8::7'), ['2001:db8::7 lists:three']);
    assert.deepEqual(told((await pull('startup=true&origins=weir')).new), []);
    assert.deepEqual(told((await pull('startup=true&origins=lists&scenarios_containing=thr')).new), ['2001:db8::7 lists:three']);
    store.setFeed(feed, { lists: [three, one, two] });
    await clock.advance(2_000);
    assert.deepEqual(told((await pull()).new), ['192.0.2.0/24 lists:two', '198.51.100.0/24 lists:three', '2001:db8::7 lists:three']);
    store.setFeed(feed, { origins: null });
    await clock.advance(2_000);
    const { new: fresh, deleted } = await pull();
    assert.deepEqual(told(fresh), ['192.0.2.0/24 weir', '198.51.100.0/24 weir', '2001:db8::7 weir']);
    assert.deepEqual(told(deleted).length, 4, 'under all names that somebody may hold it under');
    assert.deepEqual(replica.errors, []);
  });

  test('D31.3 a network that moves to another list is deleted under its old name and told under the new one in one answer, after a restart too', async () => {
    const { clock, store, lists, start, bound } = world();
    const [one, two] = lists;
    store.add(two, '192.0.2.1');
    let replica = start();
    const pull = async (query = '') => {
      const { new: fresh, deleted } = await replica.pull(query, 'test/1', bound);
      return [told(fresh), told(deleted)];
    };
    for (let n = 0; n < 2; n++) await pull();
    const id = store.add(one, '192.0.2.1');
    await clock.advance(90_000);
    assert.deepEqual(await pull(), [['192.0.2.1 lists:one'], ['192.0.2.1 lists:two']]);
    store.remove(id);
    replica = start();
    assert.deepEqual(await pull('startup=true'), [['192.0.2.1 lists:two'], ['192.0.2.1 lists:one']]);
    store.setList(two, { name: 'deux "2"' });
    await clock.advance(2_000);
    assert.deepEqual(await pull(), [['192.0.2.1 lists:deux "2"'], ['192.0.2.1 lists:one', '192.0.2.1 lists:two']]);
  });

  test('D31.3 whatever changes, is lost or starts anew: at rest a firewall holds each network once, in the set of its list', {
    timeout: 600_000,
  }, async () => {
    for (let seed = 1; seed <= 8; seed++) await history(seed);
  });
});

/** Random changes of rules, lists and settings, pulls, lost answers, restarts of weir and of bouncers; then a rest. */
async function history(seed: number): Promise<void> {
  const { pick, below } = seededRandom(seed);
  const { clock, store, lists, feed, start, bound } = world();
  let replicas = [start(), start()];
  const clients = ['firewall/1', 'firewall/2'].map((name) => ({ name, kernel: new SetKernel(clock), isNew: true }));
  const target = () =>
    pick([() => `192.0.2.${below(16)}`, () => `192.0.2.${below(4) * 4}/30`, () => '192.0.2.0/28', () => `2001:db8::${below(4)}`])();
  const ttl = () => pick([undefined, undefined, 60, 200, 3000]);
  const rules = new Map<number, { readonly list: string; readonly network: string; until: number }>();
  const untilOf = (seconds: number | undefined) =>
    seconds === undefined ? Number.POSITIVE_INFINITY : Math.ceil(clock.now() / 1000 + seconds) * 1000;
  let order = lists;
  let origins: 'weir' | 'lists' = 'lists';
  const change = () => {
    const action = below(24);
    if (action < 10 || rules.size === 0) {
      const [list, network, seconds] = [pick(lists), target(), ttl()];
      rules.set(store.add(list, network, { ttl: seconds }), { list, network, until: untilOf(seconds) });
    } else if (action < 18) {
      const id = pick([...rules.keys()]);
      store.remove(id);
      rules.delete(id);
    } else if (action < 20) {
      const [id, seconds] = [pick([...rules.keys()]), pick([10, 60, 3000])];
      store.renew(id, seconds);
      rules.get(id)!.until = untilOf(seconds);
    } else if (action < 21) store.setList(pick(lists), { name: `list ${below(5)}` });
    else if (action < 23) {
      order = lists.toSorted(() => below(3) - 1);
      store.setFeed(feed, { lists: order });
    } else {
      origins = below(3) === 0 ? 'weir' : 'lists';
      store.setFeed(feed, { origins });
    }
  };
  const pull = async (client: (typeof clients)[number], isLossy: boolean) => {
    const reply = await pick(replicas).ask('stream', client.isNew ? 'startup=true' : '', client.name, bound);
    assert.equal(reply.status, 200);
    const names = told(reply.stream.new);
    assert.deepEqual(
      told(reply.stream.deleted).filter((each) => names.includes(each)),
      [],
    );
    const fate = isLossy ? below(6) : 5;
    if (fate > 0) reply.onSent();
    if (fate < 2) return;
    client.kernel.apply(reply.stream);
    client.isNew = false;
  };
  for (let step = 0; step < 50; step++) {
    for (let n = below(4); n > 0; n--) change();
    await clock.advance(pick([500, 2_000, 10_000, 10_000, 31_000]));
    for (const client of clients) if (below(3) > 0) await pull(client, true);
    if (below(12) === 0) replicas = [start(), replicas[1]];
    if (below(30) === 0) replicas = [start(), start()];
    if (below(25) === 0) Object.assign(pick(clients), { isNew: true, kernel: new SetKernel(clock) });
  }
  for (let round = 0; round < 12; round++) {
    await clock.advance(10_000);
    for (const replica of replicas) {
      replicas = [replica, ...replicas.filter((each) => each !== replica)];
      for (const client of clients) {
        const reply = await replica.ask('stream', '', client.name, bound);
        reply.onSent();
        client.kernel.apply(reply.stream);
      }
    }
  }
  const feedValues = valuesOf((await replicas[0].get('/fw', {}, feed)).body);
  const active = [...rules.values()].filter(({ until }) => until > clock.now());
  const has = (list: string, address: string) => active.some((rule) => rule.list === list && addressesOf(rule.network).includes(address));
  const completing = (value: string) =>
    order.find((_, last) => addressesOf(value).every((address) => order.slice(0, last + 1).some((list) => has(list, address))))!;
  const expected = feedValues.map((value) => `${value} ${origins === 'weir' ? 'weir' : `lists:${store.list(completing(value)).name}`}`);
  for (const { name, kernel } of clients) assert.deepEqual(kernel.held(), expected.sort(), `seed ${seed}, ${name}`);
}

/** The addresses of a network, by their last number. */
function addressesOf(network: string): string[] {
  const [address, prefix] = network.split('/');
  const isV4 = address.includes('.');
  const at = address.lastIndexOf(isV4 ? '.' : ':') + 1;
  const [head, last] = [address.slice(0, at), Number.parseInt(address.slice(at) || '0', 10)];
  const size = prefix === undefined ? 1 : 2 ** ((isV4 ? 32 : 128) - Number(prefix));
  return Array.from({ length: size }, (_, n) => `${head}${last + n}`);
}
