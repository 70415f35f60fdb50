/** A weir whose changes over 1,000 addresses wait for approval, with people, a key, and the engines of the test. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before } from 'node:test';
import { Client } from 'pg';
import type { Stream } from '../../src/ports/stream.ts';
import { newBatchId, signalId } from '../../src/signal/message/signal-id.ts';
import { openKafkaStream } from '../../src/stream/kafka/stream.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { command, commandJson } from './command.ts';
import { temporaryFolder } from './folder.ts';
import { smallGeo } from './geo.ts';
import { freePort } from './http.ts';
import { startProvider, type TestProvider, Visitor, writeProvider } from './openid.ts';
import { startPostgres } from './postgres.ts';
import { KEY, PATIENT, startWeir, type Weir } from './weir.ts';

/** With PostgreSQL the stream is Kafka where `npm test` has started one. */
const KAFKA_BROKERS = process.env.TEST_KAFKA_BROKERS;
const PROOF = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  readonly body: any;
}

export const requestIn = (text: string): string => /\(request ([0-9a-f-]{36})\)/.exec(text)?.[1] ?? assert.fail(text);
export const DAYS = 86_400_000;

/** For the suite around the call. */
export function approvalWorld(engine: 'sqlite' | 'postgres') {
  const folder = temporaryFolder({ after });
  const settings: Record<string, string> = {};
  let weir: Weir;
  let provider: TestProvider;
  const people: Record<string, Visitor> = {};
  let stop: () => Promise<void> = async () => {};
  const start = async () => {
    weir = await startWeir(settings);
  };

  before(async () => {
    const PORT = String(await freePort());
    const baseUrl = `http://127.0.0.1:${PORT}`;
    provider = await startProvider(baseUrl);
    for (const name of ['ada', 'olga', 'vera']) provider.accounts[name] = { name, groups: ['admins'] };
    provider.accounts.eve = { name: 'eve', groups: ['readers'] };
    const database = engine === 'postgres' ? await startPostgres() : undefined;
    if (database !== undefined) stop = () => database.stop();
    const OIDC_FILE = join(folder, 'oidc.json');
    writeProvider(OIDC_FILE, provider);
    Object.assign(settings, {
      ...{ ...smallGeo(folder), DATA_DIR: join(folder, 'data'), OIDC_FILE, BASE_URL: baseUrl, PORT, BOOTSTRAP_API_KEY: KEY },
      ...(database && { DATABASE_URL: await database.createDatabase() }),
      ...(database && KAFKA_BROKERS && { KAFKA_BROKERS, KAFKA_TOPIC: `approvals-${PORT}` }),
      ...{ RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0', SOURCE_NETWORKS: '127.0.0.1' },
      // With it, operations that wait are stored encrypted.
      ...(engine === 'sqlite' && { SECRETS_KEY: 'a'.repeat(64) }),
    });
    await start();
    const policy = ['--approval', 'all', '--approval-addresses', '1000', '--people', 'viewer=readers'];
    await commandJson(['workspace', 'set', 'default', ...policy], settings);
    for (const name of Object.keys(provider.accounts)) {
      const visitor = new Visitor();
      const address = await visitor.signIn(provider, name, baseUrl);
      assert.equal((await visitor.open(address, {}, baseUrl)).status, 200);
      people[name] = visitor;
    }
  });
  after(async () => {
    await weir?.kill('SIGTERM');
    await provider?.goAway();
    await stop();
  });

  async function call(method: string, path: string, body?: unknown, { type = 'application/json', key = KEY } = {}): Promise<Reply> {
    const answer = await fetch(`${weir.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': type, 'if-match': '*' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  }
  const manage = (method: string, path: string, body?: unknown) => call(method, `/v1/manage${path}`, body);
  const approval = async (id: string) => (await manage('GET', `/approvals/${id}`)).body;
  async function as(name: string, method: string, path: string, body?: unknown): Promise<Reply> {
    const asked = { method, headers: { ...PROOF, 'if-match': '*' }, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const { status, text } = await people[name]!.open(`${weir.url}/v1/manage${path}`, asked, weir.url);
    return { status, body: JSON.parse(text) };
  }
  const rules = async (address: string): Promise<number> => (await manage('GET', `/rules?address=${address}`)).body.rules.length;

  const openStream = async (): Promise<Stream> => {
    const { KAFKA_BROKERS: brokers, KAFKA_TOPIC: topic } = settings;
    if (brokers === undefined || topic === undefined) return openSqliteStream(settings.DATA_DIR!);
    return openKafkaStream({ brokers: brokers.split(','), topic, partitions: 12, retentionHours: 24, group: `${topic}-test` });
  };

  return {
    settings,
    ...{ call, manage, as, approval, rules, start },
    kill: () => weir.kill('SIGKILL'),
    signal: (ips: readonly string[], key?: string) =>
      call(
        'POST',
        '/v1/signal',
        ips.map((ip) => ({ type: 'access_rules', action: 'block', ip })),
        { ...(key !== undefined && { key }) },
      ),
    /** A command on the host that has to wait; the id of the request. */
    async local(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await command(args, settings);
      assert.equal(code, 2, `${args.join(' ')}: ${stdout}${stderr}`);
      return requestIn(stderr);
    },
    async approve(id: string, ...names: string[]): Promise<Reply> {
      const { hash } = await approval(id);
      let last: Reply | undefined;
      for (const name of names) last = await as(name, 'POST', `/approvals/${id}/approve`, { hash });
      return last!;
    },
    /** Writes blocks into the stream as another producer does, or with `organization_id` as weir does. Returns their batch. */
    async write(ips: readonly string[], headers: Readonly<Record<string, string>>): Promise<string> {
      const { body } = await manage('GET', '/workspace');
      const [stream, batch] = [await openStream(), newBatchId(Date.now())];
      const value = (ip: string) => JSON.stringify({ type: 'access_rules', action: 'block', ip, expiration: 864_000 });
      const own: Record<string, string> = headers.organization_id === undefined ? {} : { organization_id: body.organization_id };
      await stream.publish(
        ips.map((ip, i) => ({
          key: body.id,
          headers: { workspace_id: body.id, signal_id: signalId(batch, i + 1), ...headers, ...own },
          value: value(ip),
        })),
      );
      await stream.close();
      return batch;
    },
    async sql(text: string): Promise<Record<string, unknown>[]> {
      if (engine === 'sqlite') {
        const db = new DatabaseSync(join(settings.DATA_DIR!, 'weir.db'), PATIENT);
        const rows = db.prepare(text).all();
        db.close();
        return rows as Record<string, unknown>[];
      }
      const client = new Client(settings.DATABASE_URL);
      await client.connect();
      const { rows } = await client.query(text);
      await client.end();
      return rows;
    },
  };
}
