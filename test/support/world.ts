/** A running weir with an organization, and clients that each have a workspace of their own. */
import assert from 'node:assert/strict';
import { readConfig } from '../../src/config.ts';
import { openReads, openStream } from '../../src/runtime/engines.ts';
import { unlanded } from '../../src/stream/lag.ts';
import { commandText, newKey, newTenant } from './command.ts';
import { getFeed, postSignals, type Reply } from './http.ts';
import { passTime } from './time-out.ts';
import { eventually, startWeir, testEnvironment, type Weir } from './weir.ts';

export type Json = Record<string, unknown>;

interface Answer extends Reply {
  readonly body: Json & { readonly errors: string[]; readonly details: Json[]; readonly message: string };
}

/** A client with a key of a workspace of its own. */
export interface Client {
  readonly workspace: string;
  readonly key: string;
  post(path: string, body: unknown, key?: string): Promise<Answer>;
  /** The active rules of a kind, here of one list, once everything accepted has landed. */
  rules(kind?: string, list?: string): Promise<Json[]>;
  /** A feed that was read once everything accepted had landed: of two contents in one second the later one waits for its own (D5.15). */
  feed(query?: string): Promise<string>;
}

export interface World {
  /** What its processes and commands run with. */
  readonly settings: Readonly<Record<string, string>>;
  /** The process that runs now. */
  weir(): Weir;
  /** Kills the process where it stands and starts another on the same data. */
  crash(): Promise<void>;
  /** Stops the process in good order and starts another on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when everything that is on the stream has landed, which a feed waits for no longer than 2 seconds. */
  landed(): Promise<void>;
  /** Runs a command beside the server, as an operator does; what it prints. */
  text(args: readonly string[]): Promise<string>;
  /** The same with --json; the object, or the objects of the array, that it prints. */
  json(args: readonly string[]): Promise<Json[]>;
  /** `keyOptions` are those of `weir key create`. */
  client(...keyOptions: string[]): Promise<Client>;
}

/** Starts a server on `settings`, which name at least DATA_DIR; every poll of a feed reads the store. */
export async function startWorld(given: Readonly<Record<string, string>>): Promise<World> {
  const settings = { RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0', ...given };
  let weir = await startWeir(settings);
  const organization = `org-${weir.pid}`;
  let clients = 0;
  const text = (args: readonly string[]) => commandText(args, settings);
  const json = async (args: readonly string[]): Promise<Json[]> => [JSON.parse(await text([...args, '--json'])) as Json | Json[]].flat();

  const engines = openEngines(settings);
  const landed = async () => {
    const { stream, store } = await engines();
    await eventually(async () => assert.equal(await unlanded(stream, store), 0));
  };

  await text(['org', 'create', organization]);
  return {
    settings,
    weir: () => weir,
    landed,
    async crash() {
      await weir.kill('SIGKILL');
      await passTime(settings);
      weir = await startWeir(settings);
    },
    async restart() {
      await weir.kill('SIGTERM');
      weir = await startWeir(settings);
    },
    async stop() {
      await weir.kill('SIGTERM');
      await engines.close();
    },
    text,
    json,
    async client(...keyOptions) {
      clients += 1;
      const workspace = `workspace-${clients}-of-${organization}`;
      const { workspaceId, key } = await newTenant(settings, { organization, workspace }, ...keyOptions);
      const reader = await newKey(settings, workspaceId);
      const feed = async (query = '') => {
        await landed();
        const reply = await getFeed(weir.url, reader, query);
        assert.equal(reply.status, 200, weir.output().stderr);
        return reply.text;
      };
      return {
        workspace: workspaceId,
        key,
        feed,
        async post(path, body, as = key) {
          const reply = await postSignals(weir.url, as, body, path);
          return { ...reply, body: JSON.parse(reply.text) };
        },
        async rules(kind = 'access_rule', list) {
          await landed();
          return json(['rule', 'ls', '--workspace', workspaceId, '--kind', kind, ...(list === undefined ? [] : ['--list', list])]);
        },
      };
    },
  };
}

/** The engines that the settings name, opened in this process when they are asked for. */
function openEngines(settings: Readonly<Record<string, string>>) {
  const open = async () => {
    const read = readConfig(testEnvironment(settings) as Record<string, string>);
    assert('config' in read);
    const [stream, store] = await Promise.all([openStream(read.config), openReads(read.config)]);
    return { stream, store };
  };
  let opened: ReturnType<typeof open> | undefined;
  const engines = () => {
    opened ??= open();
    return opened;
  };
  return Object.assign(engines, {
    async close() {
      if (opened === undefined) return;
      const { stream, store } = await opened;
      await Promise.all([stream.close(), store.close()]);
    },
  });
}
