import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandJson, newTenant, type Tenant } from '../support/command.ts';
import { type Deployment, deploy } from '../support/deployment.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { kafkaForTests, noKafkaAtAll } from '../support/kafka.ts';
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { passTime } from '../support/time-out.ts';
import { eventually } from '../support/weir.ts';
import { quorum } from './agreement.ts';

interface ReplacementTold {
  readonly id: string;
  readonly state: string;
  readonly steps_published: number;
  readonly batches: readonly string[];
  /** Of a batch. */
  readonly entries: number;
}

describe('D5 replicas', { skip: noPostgres() || noKafkaAtAll(), timeout: 600_000 }, () => {
  let postgres: Postgres;
  let kafka: Awaited<ReturnType<typeof kafkaForTests>>;
  const deployments: Deployment[] = [];
  const newDeployment = async (topic: string) => {
    const deployment = await deploy(postgres, kafka, `${topic}-${process.pid}`);
    deployments.push(deployment);
    return deployment;
  };
  before(async () => {
    [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
  });
  after(async () => {
    for (const deployment of deployments) await deployment.stop();
    await kafka?.stop();
    await postgres?.stop();
  });

  test('D5 Last-Modified: on three replicas one ETag names one body, Last-Modified never goes back, and all agree in the end', async (t) => {
    const { polls, contents } = await quorum(await newDeployment('quorum'), 8, 2);
    t.diagnostic(`${polls} polls of ${contents} contents`);
  });

  test('D9.12 undo: of 20 undos of one batch at once on two replicas one is 200, and the others are 409', async () => {
    const deployment = await newDeployment('undo');
    const processes = await Promise.all([deployment.start({ RATE_LIMIT_MANAGE: '0' }), deployment.start({ RATE_LIMIT_MANAGE: '0' })]);
    const organization = (await commandJson<{ id: string }>(['org', 'create', 'undo'], deployment.settings)).id;
    const all = ['signal:write', 'rules:write', 'rules:read'].flatMap((permission) => ['--permission', permission]);
    const { key } = await newTenant(deployment.settings, { organization, workspace: 'undo' }, ...all);
    const entries = Array.from({ length: 1000 }, (_, n) => ({ type: 'access_rules', action: 'block', ip: `24.0.${n >> 8}.${n & 255}` }));
    await postSignals(processes[0]!.url, key, entries);
    const { headers } = await postSignals(processes[0]!.url, key, entries);
    await deployment.landed();
    const body = JSON.stringify({ batches: [headers['x-signal-batch']] });
    const undo = ({ url }: { readonly url: string }) => ask(url, '/v1/manage/undo', { method: 'POST', headers: bearer(key), body });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => undo(processes[n % 2]!)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(19).fill(409)]);
    await Promise.all(processes.map((each) => each.kill('SIGKILL')));
  });

  test('D11.4 a list is made equal by one of two processes that are both told to; the other finishes when that is killed in mid-run, and nothing lands twice', async () => {
    const deployment = await newDeployment('replace');
    const settings = { RATE_LIMIT_MANAGE: '0', RATE_LIMIT_ENTRIES: '0' };
    const [first, second] = await Promise.all([deployment.start(settings), deployment.start(settings)]);
    const organization = (await commandJson<{ id: string }>(['org', 'create', 'replace'], deployment.settings)).id;
    const all = ['signal:write', 'rules:read'].flatMap((permission) => ['--permission', permission]);
    const { key } = await newTenant(deployment.settings, { organization, workspace: 'replace' }, ...all);
    const call = async (url: string, path: string, body?: string) => {
      const { status, text } = await ask(url, `/v1/manage/${path}`, {
        method: body ? 'POST' : 'GET',
        headers: bearer(key),
        ...(body && { body }),
      });
      return { status, body: JSON.parse(text) as ReplacementTold };
    };
    const LINES = 12_000;
    /** Hands a content over, each part to another process; not started yet. */
    const opened = async (block: number) => {
      const { id } = (await call(first!.url, 'replacements', '{}')).body;
      const lines = Array.from({ length: LINES }, (_, n) => `{"value":"${block}.0.${n >> 8}.${n & 255}","expires_in":"7d"}\n`);
      const parts = [lines.slice(0, 6000), lines.slice(6000)];
      for (const [n, part] of parts.entries()) await call([first, second][n]!.url, `replacements/${id}/parts?n=${n}`, part.join(''));
      const body = JSON.stringify({ parts: parts.length, lines: LINES, confirmed: true });
      return { id, start: ({ url }: { readonly url: string }) => call(url, `replacements/${id}/start`, body) };
    };
    const ended = (id: string, { url }: { readonly url: string }) =>
      eventually(async () => {
        const { body } = await call(url, `replacements/${id}`);
        assert.equal(body.state, 'done', JSON.stringify(body));
        return body;
      }, 120_000);

    const before = await opened(24);
    assert.equal((await before.start(first!)).status, 202);
    await ended(before.id, first!);
    await deployment.landed();

    const { id, start } = await opened(25);
    const started = await Promise.all([start(first!), start(second!)]);
    assert.deepEqual(started.map(({ status }) => status).sort(), [202, 409]);
    const [worker, other] = started[0]!.status === 202 ? [first!, second!] : [second!, first!];
    await eventually(async () => {
      const { state, steps_published: published } = (await call(other.url, `replacements/${id}`)).body;
      assert.ok(state === 'running' && published > 0, `${state} ${published}`);
    });
    await worker.kill('SIGKILL');
    await passTime(deployment.settings);
    const told = await ended(id, other);
    await deployment.landed();
    const rules = await commandJson<{ target: string }[]>(['rule', 'ls', '--workspace', 'replace'], deployment.settings);
    const targets = new Set(rules.map(({ target }) => target));
    assert.deepEqual([rules.length, targets.size, [...targets].every((target) => target.startsWith('25.'))], [LINES, LINES, true]);
    const entries = await Promise.all(told.batches.map(async (batch) => (await call(other.url, `batches/${batch}`)).body.entries));
    // A message for each rule that comes, and for each thousand that go.
    assert.equal(
      entries.reduce((sum, each) => sum + each),
      LINES + LINES / 1000,
    );
    await other.kill('SIGKILL');
  });

  test('D1.4 stop: behind a balancer that asks /readyz a rolling restart of three processes fails no request and loses no signal', async (t) => {
    const deployment = await newDeployment('rolling');
    const [tenant] = await deployment.tenants();
    const start = () => deployment.start({ ROLES: 'signals,consumer,feeds', DRAIN_SECONDS: '3', FEED_REBUILD_SECONDS: '1' });
    const processes = await Promise.all([start(), start(), start()]);
    const balancer = balance(processes.map(({ url }) => url));
    await eventually(() => assert.equal(balancer.ready().length, 3));
    let rolling = true;
    let [asked, posted] = [0, 0];
    const clients = Array.from({ length: 4 }, async (_, n) => {
      while (rolling) {
        const urls = balancer.ready();
        asked += 1;
        if (n % 2 === 0) await post(urls[asked % urls.length]!, tenant, addressOf(posted++));
        else await poll(urls[asked % urls.length]!, tenant);
        // Leaves the processors to the servers and to whoever asks for their readiness.
        await sleep(20);
      }
    });
    for (const n of processes.keys()) {
      processes[n] = await deployment.restart(processes[n]!, 'SIGTERM');
      await eventually(() => assert.equal(balancer.ready().length, 3));
    }
    rolling = false;
    await Promise.all(clients);
    await balancer.stop();
    await deployment.landed();
    const wanted = Array.from({ length: posted }, (_, n) => `${addressOf(n)}/32`);
    for (const { url } of processes)
      await eventually(async () => {
        const feed = new Set((await poll(url, tenant)).split('\n'));
        assert.deepEqual(
          wanted.filter((each) => !feed.has(each)),
          [],
        );
      });
    t.diagnostic(`${asked} requests answered, ${posted} of them signals`);
  });
});

/** How often the balancer asks each process, ms: well under half of `DRAIN_SECONDS`, as docs/deployment.md advises. */
const PROBE_INTERVAL = 50;

/** Asks /readyz of each address all the time; `ready()` are those that said 200 last. */
function balance(urls: readonly string[]): { ready(): string[]; stop(): Promise<void> } {
  const isReady = new Map<string, boolean>();
  let running = true;
  const probes = urls.map(async (url) => {
    while (running) {
      const { ok } = await fetch(`${url}/readyz`, { headers: { connection: 'close' } }).catch(() => ({ ok: false }));
      isReady.set(url, ok);
      await sleep(PROBE_INTERVAL);
    }
  });
  return {
    ready: () => urls.filter((url) => isReady.get(url)),
    async stop() {
      running = false;
      await Promise.all(probes);
    },
  };
}

/** No two of them are one network. */
const addressOf = (n: number) => `198.18.${n >> 7}.${2 * (n & 127)}`;

/** What has to be answered with 200. */
async function answered(response: Response): Promise<string> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

const authorization = ({ key }: Tenant) => ({ authorization: `Bearer ${key}` });

const post = async (url: string, tenant: Tenant, ip: string) =>
  answered(
    await fetch(`${url}/v1/signal`, {
      method: 'POST',
      headers: authorization(tenant),
      body: JSON.stringify([{ type: 'access_rules', action: 'block', ip }]),
    }),
  );

const poll = async (url: string, tenant: Tenant) => answered(await fetch(`${url}/v1/threat/feeds`, { headers: authorization(tenant) }));
