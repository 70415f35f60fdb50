/** A running weir with an organization, and clients that each have a workspace of their own. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import { startWeir, testEnvironment, type Weir } from './weir.ts';

export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json & { readonly errors: string[]; readonly details: Json[]; readonly message: string };
}

/** A client with a key of a workspace of its own. */
export interface Client {
  readonly workspace: string;
  readonly key: string;
  post(path: string, body: unknown, key?: string): Promise<Answer>;
  /** The active rules of a kind once everything accepted has landed. */
  rules(kind: string): Promise<Json[]>;
  feed(query?: string): Promise<string>;
}

export interface World {
  /** The process that runs now. */
  weir(): Weir;
  /** Kills the process where it stands and starts another on the same data. */
  crash(): Promise<void>;
  /** Runs a command beside the server, as an operator does; what it prints. */
  text(args: readonly string[]): Promise<string>;
  /** The same with --json; the objects that it prints, one a line. */
  json(args: readonly string[]): Promise<Json[]>;
  /** `keyOptions` are those of `weir key create`. */
  client(...keyOptions: string[]): Promise<Client>;
}

/** Starts a server on `settings`, which name at least DATA_DIR; feeds are never older than what was accepted. */
export async function startWorld(given: Readonly<Record<string, string>>): Promise<World> {
  const settings = { RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0', ...given };
  let weir = await startWeir(settings);
  const organization = `org-${weir.pid}`;
  let clients = 0;

  async function text(args: readonly string[]): Promise<string> {
    let printed = '';
    const output = new Writable({
      write(chunk, _encoding, done) {
        printed += chunk;
        done();
      },
    });
    const code = await runCommandLine(args, { environment: testEnvironment(settings), stdout: output, stderr: output });
    assert.equal(code, 0, printed);
    return printed;
  }
  const json = async (args: readonly string[]): Promise<Json[]> =>
    (await text([...args, '--json']))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  await text(['org', 'create', organization]);
  return {
    weir: () => weir,
    async crash() {
      await weir.kill('SIGKILL');
      weir = await startWeir(settings);
    },
    text,
    json,
    async client(...keyOptions) {
      clients += 1;
      const [made] = await json(['workspace', 'create', `workspace-${clients}-of-${organization}`, '--org', organization]);
      const workspace = String(made!.id);
      const newKey = async (options: string[]) => String((await json(['key', 'create', '--workspace', workspace, ...options]))[0]!.key);
      const [key, reader] = [await newKey(keyOptions), await newKey([])];
      const feed = async (query = '') => {
        const answer = await fetch(`${weir.url}/v1/threat/feeds${query}`, { headers: { authorization: `Bearer ${reader}` } });
        assert.equal(answer.status, 200, weir.output().stderr);
        return answer.text();
      };
      return {
        workspace,
        key,
        feed,
        async post(path, body, as = key) {
          const answer = await fetch(`${weir.url}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${as}` },
            body: typeof body === 'string' ? body : JSON.stringify(body),
          });
          return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
        },
        async rules(kind) {
          // A feed waits for what was accepted before it.
          await feed();
          return json(['rule', 'ls', '--workspace', workspace, '--kind', kind]);
        },
      };
    },
  };
}
