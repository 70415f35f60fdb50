/** The clients of a soak: appliances, bouncers, senders, people at the console, and the server that sources are fetched from. */
import { address, type ListServer, list, listServer } from '../../test/support/list-server.ts';
import { seededRandom } from '../../test/support/random.ts';
import { type Asking, lane } from './asking.ts';
import type { SoakWorld } from './world.ts';

export interface ClientOptions {
  readonly devices: number;
  readonly bouncers: number;
  readonly signals: number;
  readonly seed: number;
  /** How many times as fast as the real one the clock of weir goes. */
  readonly factor: number;
  /** Seconds of the clock of weir that the run has: rules live for a part of it. */
  readonly length: number;
}

/** Seconds between two polls of an appliance, two pulls of a bouncer, two reads of a page of the console, two undos. */
const [POLL, PULL, READ, UNDO] = [30, 10, 5, 20];
const PAGES = 3;
/** Real seconds between two expiries. */
const EXPIRY = 5;
/** Signals of a batch. */
const BATCH = 5;
/** Lines of a source, and how many of them are others at the next refresh that brings something new. */
const [LINES, MOVED] = [1000, 50];
/** What is sent again and again: addresses of each workspace, and WAF rules. */
const [AGAIN, WAF] = [500, 300];

/** Lets them all go on, each at its pace, until the returned function is called, which resolves when the last answer is there. */
export async function startClients(world: SoakWorld, { ask }: Asking, options: ClientOptions): Promise<() => Promise<void>> {
  const { weir, tenants, bare } = world;
  const random = seededRandom(options.seed);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const sources = await startSources();

  // Appliances: a new connection for each poll, with the tag of what they have; the bare server is asked as often, in the same way.
  const tags = new Map<string, string>();
  const tagged = async (kind: string, who: string, url: string, headers: Record<string, string>) => {
    const tag = tags.get(who);
    const asked = { headers: { ...headers, 'accept-encoding': 'gzip', ...(tag !== undefined && { 'if-none-match': tag }) } };
    const answer = await ask(kind, url, [200, 304], asked);
    if (typeof answer?.headers.etag === 'string') tags.set(who, answer.headers.etag);
  };
  const poll = async (n: number) => {
    const { key } = tenants[n % tenants.length];
    const headers = { ...bearer(key), 'user-agent': `appliance-${n}/1` };
    await tagged('poll', `device ${n}`, `${weir.url}/v1/threat/feeds`, headers);
    await tagged('bare', `bare ${n}`, bare, headers);
  };

  const lanes = Array.from({ length: options.bouncers }, lane);
  const pull = async (n: number) => {
    const headers = { 'x-api-key': tenants[n % tenants.length].bouncerKey, 'user-agent': `bouncer-${n}/1`, 'accept-encoding': 'gzip' };
    await ask('pull', `${weir.url}/v1/decisions/stream`, [200], { headers, agent: lanes[n] });
  };

  // Signals: most addresses are new, some come again or are let go; every tenth batch is of WAF rules.
  const wires = tenants.map(lane);
  const recent: { tenant: number; id: string }[] = [];
  const lives = [500, 100, 24].map((part) => Math.max(60, Math.round(options.length / part)));
  // Where a second of weir's clock is a millisecond, what is built would have expired each time before it is ready: rules expire together.
  const together = EXPIRY * 1000 * options.factor;
  const expiry = () => new Date(Math.ceil((world.now() + random.pick(lives) * 1000) / together) * together).toISOString();
  const entry = (tenant: number) => {
    const kind = random.below(20);
    const ip = kind < 15 ? address(random.below(1 << 24)) : address(random.below(AGAIN) + tenant * AGAIN);
    if (kind === 19) return { type: 'access_rules', action: 'unblock', ip };
    return { type: 'access_rules', action: 'block', ip, expires_at: expiry(), description: 'brute force on the login page' };
  };
  const wafEntry = () => ({
    ...{ kind: 'waf_rule', op: 'upsert', rule_ref: `waf-${random.below(WAF)}`, expires_in: random.pick(lives) },
    rule: { type: 'custom', action: 'block', expression: `http.request.path contains "/login${random.below(100)}"`, order: 10 },
  });
  const send = async (n: number) => {
    const tenant = n % tenants.length;
    const isWaf = n % 10 === random.below(10);
    const body = JSON.stringify(Array.from({ length: BATCH }, () => (isWaf ? wafEntry() : entry(tenant))));
    const asked = { method: 'POST', headers: bearer(tenants[tenant].key), body, agent: wires[tenant] };
    const answer = await ask('signal', `${weir.url}/v${isWaf ? 2 : 1}/signal`, [200], asked);
    const id = answer?.headers['x-signal-batch'];
    if (typeof id === 'string') recent.push({ tenant, id });
    if (recent.length > 100) recent.shift();
  };

  const undo = async (n: number) => {
    const chosen = recent[random.below(recent.length)];
    if (chosen === undefined) return;
    const undoOf = async (id: string) => {
      const body = JSON.stringify({ batches: [id] });
      const headers = { ...bearer(tenants[chosen.tenant].key), 'content-type': 'application/json', 'idempotency-key': `${n}-${id}` };
      return ask('undo', `${weir.url}/v1/manage/undo`, [200, 202, 409], { method: 'POST', headers, body });
    };
    const answer = await undoOf(chosen.id);
    const undoing = answer?.status === 200 ? (JSON.parse(answer.text).undone[0]?.undone_by as string | null) : null;
    if (undoing !== null && n % 2 === 0) await undoOf(undoing);
  };

  const readers = Array.from({ length: PAGES }, (_, n) => reader(n));
  const running = [
    evenly(options.devices / POLL, (n) => poll(n % options.devices)),
    evenly(options.bouncers / PULL, (n) => pull(n % options.bouncers)),
    evenly(options.signals / BATCH, send),
    evenly(1 / UNDO, undo),
    evenly(PAGES / READ, (n) => readers[n % PAGES]()),
  ];
  return async () => {
    await Promise.all(running.map((each) => each()));
    for (const each of [...lanes, ...wires]) each.destroy();
    await sources[Symbol.asyncDispose]();
  };

  /** Somebody who is signed in and looks at one page after the other, for half a minute each: what is new alone comes. */
  function reader(n: number): () => Promise<void> {
    const [held, agent] = [new Map<string, string>(), lane()];
    lanes.push(agent);
    const proof = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    let cookie: string | undefined;
    let turn = n;
    const signIn = async () => {
      const body = JSON.stringify({ key: tenants[n % tenants.length].key, name: `person ${n}` });
      const answer = await ask('sign-in', `${weir.url}/console/session`, [200, 201], { method: 'POST', headers: proof, body, agent });
      const [first] = answer?.headers['set-cookie'] ?? [];
      cookie = first?.split(';')[0];
    };
    return async () => {
      if (cookie === undefined) await signIn();
      turn += 1;
      for (const path of CONSOLE[Math.floor(turn / (30 / READ)) % CONSOLE.length]) {
        const tag = held.get(path);
        const headers = { ...proof, cookie: cookie ?? '', ...(tag !== undefined && { 'if-none-match': tag }) };
        const answer = await ask('console', `${weir.url}/v1/manage${path}`, [200, 304, 401], { headers, agent });
        if (answer?.status === 401) cookie = undefined;
        const fresh = answer?.headers.etag;
        if (typeof fresh === 'string' && fresh.startsWith('W/')) held.set(path, fresh);
      }
    };
  }

  /** A source for each workspace; four of five requests find another content. */
  async function startSources(): Promise<ListServer> {
    const server = await listServer('0.0.0.0');
    const { port } = new URL(server.url);
    for (const [n, { key }] of tenants.entries()) {
      let moved = 0;
      server.set(`/${n}`, (request, response) => {
        if (random.below(5) > 0) moved += MOVED;
        const lines = Array.from({ length: LINES }, (_, i) => address((1 << 20) + n * 100_000 + ((moved + i) % 100_000)));
        list(`${lines.join('\n')}\n`)(request, response);
      });
      const url = `http://127.0.0.${2 + n}:${port}/${n}`;
      const body = JSON.stringify({ name: `list-${n}`, url, every: Math.max(300, Math.round(options.length / 48)) });
      await ask('source', `${weir.url}/v1/manage/sources`, [201], { method: 'POST', headers: bearer(key), body });
    }
    return server;
  }
}

/** What pages of the console read. */
const CONSOLE: readonly (readonly string[])[] = [
  ['/status', '/activity?minutes=60', '/history?days=90', '/whoami'],
  ['/rules?limit=100', '/rules/count'],
  ['/rules?limit=100&kind=waf_rule&sort=created&descending=true', '/lists'],
  ['/feeds', '/lists', '/targets', '/content?lines=1'],
  ['/batches?limit=100'],
  ['/devices?limit=1000'],
  ['/bouncers?limit=1000'],
  ['/changes?since=1h&limit=100'],
  ['/audit?limit=100'],
  ['/sources', '/deleted'],
  ['/lookup?target=20.0.1.2&action=block&path=true'],
  ['/keys', '/webhooks', '/geo'],
];

/** Does the work `rate` times a second, evenly; the returned function ends it and resolves when none is under way. */
function evenly(rate: number, work: (n: number) => Promise<void>): () => Promise<void> {
  const open = new Set<Promise<void>>();
  let n = 0;
  const begun = performance.now();
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 1000) * rate);
    for (; n < due; n += 1) {
      const one = work(n).finally(() => open.delete(one));
      open.add(one);
    }
  }, 5);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
  };
}
