/** A running weir with an organization, and clients that each have a workspace of their own. */
import assert from 'node:assert/strict';
import { commandText, newKey, newTenant } from './command.ts';
import { getFeed, postSignals, type Reply } from './http.ts';
import { startWeir, type Weir } from './weir.ts';

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
  feed(query?: string): Promise<string>;
}

export interface World {
  /** What its processes and commands run with. */
  readonly settings: Readonly<Record<string, string>>;
  /** The process that runs now. */
  weir(): Weir;
  /** Kills the process where it stands and starts another on the same data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  /** Runs a command beside the server, as an operator does; what it prints. */
  text(args: readonly string[]): Promise<string>;
  /** The same with --json; the objects that it prints, one a line. */
  json(args: readonly string[]): Promise<Json[]>;
  /** `keyOptions` are those of `weir key create`. */
  client(...keyOptions: string[]): Promise<Client>;
}

/** Starts a server on `settings`, which name at least DATA_DIR; feeds are never older than what was accepted. */
export async function startWorld(given: Readonly<Record<string, string>>): Promise<World> {
  const settings = { RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0', ...given };
  let weir = await startWeir(settings);
  const organization = `org-${weir.pid}`;
  let clients = 0;
  const text = (args: readonly string[]) => commandText(args, settings);
  const json = async (args: readonly string[]): Promise<Json[]> =>
    (await text([...args, '--json']))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  await text(['org', 'create', organization]);
  return {
    settings,
    weir: () => weir,
    async crash() {
      await weir.kill('SIGKILL');
      weir = await startWeir(settings);
    },
    async stop() {
      await weir.kill('SIGTERM');
    },
    text,
    json,
    async client(...keyOptions) {
      clients += 1;
      const workspace = `workspace-${clients}-of-${organization}`;
      const { workspaceId, key } = await newTenant(settings, { organization, workspace }, ...keyOptions);
      const reader = await newKey(settings, workspaceId);
      const feed = async (query = '') => {
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
          // A feed waits for what was accepted before it.
          await feed();
          return json(['rule', 'ls', '--workspace', workspaceId, '--kind', kind, ...(list === undefined ? [] : ['--list', list])]);
        },
      };
    },
  };
}
