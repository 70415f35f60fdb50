/** Two servers over one engine, and workspaces to try feeds in. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import type { Message } from '../../../src/ports/stream.ts';
import { openStream } from '../../../src/runtime/engines.ts';
import { newKey, newTenant } from '../../support/command.ts';
import { ask, bearer, type Headers, postSignals, type Reply } from '../../support/http.ts';
import { eventually, startWeir, testEnvironment } from '../../support/weir.ts';
import { type Json, startWorld, type World } from '../../support/world.ts';

export const FEEDS = '/v1/threat/feeds';
/** A key with colons: the password of HTTP Basic is all that follows the first one. */
export const COLON_KEY = 'weir:test:key:with:colons';
/** Feed requests per key and minute on the second server. */
export const REPLICA_LIMIT = 600;

/** Ranges that are not aligned, that touch each other and other rules' networks. */
const COUNTRIES = ['198.51.100.0,198.51.100.255,NL', '203.0.113.1,203.0.113.6,NL', '2001:db8:a::,2001:db8:b:ffff:ffff:ffff:ffff:ffff,NL'];
/** A country of so many networks that none merge: every other address. */
export const SCATTERED = { country: 'FR', networks: 120_000 };
const scattered = (i: number) => `11.${i >> 15}.${(i >> 7) & 255}.${(2 * i) & 255}`;
for (let i = 0; i < SCATTERED.networks; i += 1) COUNTRIES.push(`${scattered(i)},${scattered(i)},${SCATTERED.country}`);
const ASNS = ['198.51.101.0,198.51.101.255,64500,Example', '2001:db8:c::,2001:db8:c:ffff:ffff:ffff:ffff:ffff,64500,Example'];

export interface Asked {
  readonly method?: string;
  readonly headers?: Headers;
  /** undefined: the workspace's key; null: none. */
  readonly key?: string | null;
  readonly body?: string;
}

/** A workspace of an organization of its own. */
export interface Space {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  /** May send signals and read feeds. */
  readonly key: string;
  /** Asks for a feed by what follows its address: `''`, `?family=v4`, `/edge?format=commented`. */
  get(target?: string, asked?: Asked): Promise<Reply>;
  /** The same of the second server. */
  getReplica(target?: string, asked?: Asked): Promise<Reply>;
  /** Waits until the feed has this body. */
  reads(target: string, text: string): Promise<Reply>;
  /** Sends v1 events or v2 envelopes, which all have to be accepted; `list` by id or name. */
  send(entries: readonly Json[], list?: string): Promise<void>;
  /** Blocks addresses, networks, countries (`NL`) or ASNs (`AS64500`). */
  block(targets: readonly string[], list?: string): Promise<void>;
  unblock(targets: readonly string[], list?: string): Promise<void>;
  /** Makes a list; its id. */
  list(name: string, ...options: string[]): Promise<string>;
  /** Changes a list. */
  set(list: string, ...options: string[]): Promise<void>;
  /** Makes another key. */
  newKey(...options: string[]): Promise<string>;
}

export interface FeedWorld {
  readonly world: World;
  /** Reads the store for every request; small geo data; lands. */
  url(): string;
  /** Default settings, packaged geo data, serves feeds only. */
  readonly replica: string;
  space(): Promise<Space>;
  /** Appends to the stream as another producer would. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Resolves when everything that is on the stream has landed. */
  landed(): Promise<void>;
  stop(): Promise<void>;
}

/** `settings` choose the engines; `folder` is empty and private to this world. */
export async function startFeedWorld(settings: Readonly<Record<string, string>>, folder: string): Promise<FeedWorld> {
  const [GEO_COUNTRY_FILE, GEO_ASN_FILE] = ['country.csv', 'asn.csv'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(GEO_COUNTRY_FILE, COUNTRIES.map((row) => `${row}\n`).join(''));
  writeFileSync(GEO_ASN_FILE, ASNS.map((row) => `${row}\n`).join(''));
  const engines = { DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: COLON_KEY, ...settings };
  const world = await startWorld({ ...engines, GEO_COUNTRY_FILE, GEO_ASN_FILE });
  const replica = await startWeir({ ...engines, ROLES: 'feeds', RATE_LIMIT_FEEDS: String(REPLICA_LIMIT) });
  const url = () => world.weir().url;
  let spaces = 0;

  return {
    world,
    url,
    replica: replica.url,
    async space() {
      spaces += 1;
      const [organization, name] = [`organization ${spaces}`, `space ${spaces}`];
      await world.text(['org', 'create', organization]);
      return openSpace(world, replica.url, organization, name);
    },
    async publish(messages) {
      const read = readConfig(testEnvironment(engines) as Record<string, string>);
      assert('config' in read);
      const stream = await openStream(read.config);
      await stream.publish(messages).finally(() => stream.close());
    },
    landed: () => world.landed(),
    async stop() {
      await Promise.all([world.stop(), replica.kill('SIGTERM')]);
    },
  };
}

async function openSpace(world: World, replica: string, organization: string, name: string): Promise<Space> {
  const { workspaceId: id, key } = await newTenant(world.settings, { organization, workspace: name });
  const inSpace = ['--workspace', id];
  const getFrom = (base: string, target: string, { headers, key: as = key, ...asked }: Asked) => {
    return ask(base, `${FEEDS}${target}`, { ...asked, headers: { ...(as === null ? {} : bearer(as)), ...headers } });
  };
  const get = (target = '', asked: Asked = {}) => getFrom(world.weir().url, target, asked);
  const send = async (entries: readonly Json[], list?: string) => {
    const version = 'kind' in entries[0]! ? 2 : 1;
    const query = list === undefined ? '' : `?list=${encodeURIComponent(list)}`;
    const { status, text } = await postSignals(world.weir().url, key, entries, `/v${version}/signal${query}`);
    assert.equal(status, 200, text);
  };
  const events = (action: string, targets: readonly string[]) => targets.map((target) => event(target, { action }));
  return {
    id,
    name,
    organization,
    key,
    get,
    getReplica: (target = '', asked = {}) => getFrom(replica, target, asked),
    reads: (target, text) =>
      eventually(async () => {
        const reply = await get(target);
        assert.deepEqual([reply.status, reply.text], [200, text]);
        return reply;
      }),
    send,
    block: (targets, list) => send(events('block', targets), list),
    unblock: (targets, list) => send(events('unblock', targets), list),
    list: async (listName, ...options) => String((await world.json(['list', 'create', listName, ...inSpace, ...options]))[0]!.id),
    async set(list, ...options) {
      await world.text(['list', 'set', list, ...inSpace, ...options]);
    },
    newKey: (...options) => newKey(world.settings, id, ...options),
  };
}

/** A v1 event on an address, network, country (`NL`) or ASN (`AS64500`). */
export function event(target: string, more: Json = {}): Json {
  const field = /^as\d/i.test(target) ? 'asn' : /^[a-z]{2}$/i.test(target) ? 'country' : 'ip';
  return { type: 'access_rules', action: 'block', [field]: target, ...more };
}

/** The message of a block that expires at a second: accepted a minute before it, as an expiration of 60 demands. */
export function lapsing(workspace: string, ip: string, second: number): Message {
  const headers = { workspace_id: workspace, received_at: new Date((second - 60) * 1000).toISOString() };
  return { key: workspace, headers, value: JSON.stringify(event(ip, { expiration: 60 })) };
}

/** A v2 upsert of an access rule. */
export const upsert = (ip: string, rule: Json = {}, more: Json = {}): Json => ({
  kind: 'access_rule',
  op: 'upsert',
  rule: { target: { ip }, ...rule },
  ...more,
});

export const FAMILIES = ['v4', 'v6', 'both'] as const;
export const ACTIONS = ['block', 'allow'] as const;

/** The second that Last-Modified names. */
export const lastModified = ({ headers }: Reply): number => Date.parse(headers['last-modified']!) / 1000;
