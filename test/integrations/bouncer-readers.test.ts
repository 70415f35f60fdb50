/** Bouncers that read decisions in their own way: a proxy's plugin that compares texts, and Debian's custom bouncer. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type Decision, type StreamBody, secondsOf } from '../support/bouncer-world.ts';
import { commandJson, commandText, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, freePort, postSignals } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const UNTIL = 60_000;

/** What the plugin for Traefik does with the stream: a map from the text of a decision, which it asks for the text of the client's address. */
class TextReader {
  readonly #banned = new Map<string, number>();

  apply({ new: fresh, deleted }: StreamBody): void {
    for (const { value, duration } of fresh) this.#banned.set(value, Date.now() + secondsOf(duration) * 1000);
    // In this order: what is in both would be gone.
    for (const { value } of deleted) this.#banned.delete(value);
  }

  blocks(address: string): boolean {
    return (this.#banned.get(address) ?? 0) > Date.now();
  }
}

suite('readers of decisions', () => {
  const folder = temporaryFolder({ after });
  let settings: Record<string, string>;
  let weir: Weir;
  before(async () => {
    const fast = { FEED_REBUILD_SECONDS: '0', LOG_LEVEL: 'info', DRAIN_SECONDS: '0', PORT: String(await freePort()) };
    settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, ...fast };
    weir = await startWeir(settings);
  });
  after(() => weir.kill('SIGKILL'));

  const inWorkspace = ['--workspace', 'default'];
  const keyOf = (...options: string[]) => newKey(settings, 'default', '--permission', 'feed:read', ...options);
  const send = async (list: string, action: string, ...targets: string[]) => {
    const entries = targets.map((ip) => ({ type: 'access_rules', action, ip }));
    assert.equal((await postSignals(weir.url, KEY, entries, `/v1/signal?list=${list}`)).status, 200);
  };
  const get = async (key: string, path: string, userAgent: string) => {
    const { status, text } = await ask(weir.url, path, { headers: { 'x-api-key': key, 'user-agent': userAgent } });
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };

  test('D14.13, D14.10 a reader that compares texts enforces no network of the stream, and weir says so; look-ups and single addresses work', async () => {
    const TRAEFIK = 'Crowdsec-Bouncer-Traefik-Plugin/1.4.5';
    const blocked = ['192.0.2.0', '192.0.2.1', '198.51.100.0', '198.51.100.77', '198.51.100.255'];
    await commandText(['list', 'create', 'texts', ...inWorkspace], settings);
    await commandText(['feed', 'create', 'hosts', ...inWorkspace, '--list', 'texts', '--single-addresses', '256'], settings);
    await send('texts', 'block', '192.0.2.0', '192.0.2.1', '198.51.100.0/24');
    const [key, single] = [await keyOf('--list', 'texts'), await keyOf('--feed', 'hosts')];
    const pulled = async (of: string) => {
      const reader = new TextReader();
      const stream = await eventually(async () => {
        const found = (await get(of, '/v1/decisions/stream?startup=true', TRAEFIK)) as StreamBody;
        assert.ok(found.new.length >= 2);
        return found;
      }, UNTIL);
      reader.apply(stream);
      return reader;
    };
    const [networks, hosts] = [await pulled(key), await pulled(single)];
    assert.deepEqual(
      blocked.filter((address) => networks.blocks(address)),
      [],
      'two neighbours are one network, which has a text of its own',
    );
    assert.deepEqual(
      blocked.filter((address) => hosts.blocks(address)),
      blocked,
    );
    const live = async (address: string) =>
      ((await get(key, `/v1/decisions?ip=${address}&banned=true`, 'live/1')) as Decision[] | null) !== null;
    for (const address of blocked) assert.ok(await live(address), address);
    assert.ok(!(await live('192.0.2.2')));
    await send('texts', 'unblock', '192.0.2.1');
    await eventually(async () => {
      hosts.apply((await get(single, '/v1/decisions/stream?startup=false', TRAEFIK)) as StreamBody);
      assert.deepEqual([hosts.blocks('192.0.2.1'), hosts.blocks('192.0.2.0')], [false, true]);
    }, UNTIL);
    await eventually(() => assert.match(weir.output().stderr, /Traefik-Plugin\/1.4.5.*enforces none of them: use its live mode/));
    assert.doesNotMatch(weir.output().stderr, /live\/1.*enforces none/);
    await weir.kill('SIGTERM');
    const rows = await commandJson<Record<string, unknown>[]>(['bouncer', 'ls', ...inWorkspace], settings);
    const told = rows.map(({ user_agent, cannot_enforce, last_stream }) => [user_agent, cannot_enforce !== null, last_stream !== null]);
    assert.deepEqual(told.sort(), [
      [TRAEFIK, false, true],
      [TRAEFIK, true, true],
      ['live/1', false, false],
    ]);
    weir = await startWeir(settings);
  });

  test('D14.1, D14.5 the custom bouncer: its program is called for every network that comes and goes', {
    skip: needs('crowdsec-custom-bouncer'),
  }, async (t) => {
    await commandText(['list', 'create', 'custom', ...inWorkspace], settings);
    await send('custom', 'block', '192.0.2.1', '198.51.100.0/24');
    const calls = join(folder, 'calls');
    const program = join(folder, 'program.sh');
    writeFileSync(program, `#!/bin/sh\necho "$1 $2 $3" >> ${calls}\n`);
    chmodSync(program, 0o755);
    const config = {
      bin_path: program,
      piddir: folder,
      update_frequency: '500ms',
      cache_retention_duration: '1s',
      daemonize: false,
      log_mode: 'stdout',
      log_level: 'info',
      api_url: `${weir.url}/`,
      api_key: await keyOf('--list', 'custom'),
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'custom.yaml'), JSON.stringify(config));
    const child = spawn(locate('crowdsec-custom-bouncer')!, ['-c', join(folder, 'custom.yaml')]);
    t.after(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    let log = '';
    for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (text: string) => (log += text));
    const held = () => {
      const held = new Map<string, number>();
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
      for (const [word, value, seconds] of lines.map((line) => line.split(' '))) {
        if (word === 'add') held.set(value!, Number(seconds));
        else held.delete(value!);
      }
      return held;
    };
    const has = (...values: string[]) => eventually(() => assert.deepEqual([...held().keys()].sort(), values, log), UNTIL);
    await has('192.0.2.1', '198.51.100.0/24');
    for (const seconds of held().values()) assert.ok(seconds > 86_000 && seconds <= 86_401, `${seconds} s of a day`);
    await send('custom', 'unblock', '192.0.2.1');
    await send('custom', 'block', '192.0.2.8/30');
    await has('192.0.2.8/30', '198.51.100.0/24');
  });
});
