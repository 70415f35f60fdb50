/** Hosts in network namespaces of their own: weir-follow, the timer of docs/appliances/nftables.md, and CrowdSec's firewall bouncer. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { locate } from '../../test/support/programs.ts';
import { now } from './latencies.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLLOW = join(ROOT, 'integrations/weir-follow');
const RECIPE = join(ROOT, 'docs/appliances/nftables.md');
const BIG = { maxBuffer: 1 << 28 };
/** Between two runs of the timer's script, and two fetches of CrowdSec's bouncer with its default settings, ms. */
const TIMER = 30_000;
const FREQUENCY = '10s';
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Called when the kernel has a change: `+` or `-` and an address, ms of the common clock. */
export type Seen = (name: string, at: number) => void;

export interface Host {
  stop(): Promise<void>;
}

let spaces = 0;

/** A namespace that reaches weir by an address of its own. */
async function namespace() {
  spaces += 1;
  const name = `we${process.pid}-${spaces}`;
  const [here, there] = [`wea${process.pid % 100_000}${spaces}`, `web${process.pid % 100_000}${spaces}`];
  const base = `10.205.${process.pid % 250}`;
  const near = `${base}.${4 * spaces + 1}`;
  await run('ip', ['netns', 'add', name]);
  await run('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name]);
  await run('ip', ['addr', 'add', `${near}/30`, 'dev', here]);
  await run('ip', ['link', 'set', here, 'up']);
  await run('ip', ['-n', name, 'addr', 'add', `${base}.${4 * spaces + 2}/30`, 'dev', there]);
  await run('ip', ['-n', name, 'link', 'set', there, 'up']);
  const folder = mkdtempSync(join(tmpdir(), 'weir-enforce-'));
  const children: ChildProcess[] = [];
  return {
    near,
    folder,
    within: (...command: string[]) => run('ip', ['netns', 'exec', name, ...command], BIG),
    start(command: readonly string[], env: Record<string, string> = {}): ChildProcess {
      const child = spawn('ip', ['netns', 'exec', name, ...command], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.push(child);
      return child;
    },
    async stop() {
      for (const child of children) {
        const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await run('ip', ['netns', 'del', name]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The kernel reports each transaction. */
export async function startFollower(port: string, key: string, seen: Seen): Promise<Host> {
  const space = await namespace();
  const env = { WEIR_URL: `http://${space.near}:${port}`, WEIR_API_KEY: key, WEIR_FOLLOW_STATE: join(space.folder, 'state') };
  const follower = space.start(['python3', FOLLOW], env);
  let log = '';
  follower.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text));
  for (let n = 0; !/Loaded/.test(log) || Number((await space.within('nft', 'list', 'tables')).stdout.length) === 0; n += 1) {
    if (n > 600) throw new Error(`weir-follow has not loaded its networks: ${log}`);
    await sleep(200);
  }
  const monitor = space.start(['python3', '-B', join(ROOT, 'bench/enforce/monitor.py'), FOLLOW]);
  const lines = createInterface(monitor.stdout!);
  const listening = once(lines, 'line');
  lines.on('line', (line) => {
    const [at, name] = line.split(' ');
    if (name !== undefined) seen(name, Number(at));
  });
  await listening;
  return { stop: space.stop };
}

/** The documented script, again 30 s after it has ended: the kernel has what the script has loaded. */
export async function startTimer(port: string, key: string, pending: () => Iterable<string>, seen: Seen): Promise<Host> {
  const space = await namespace();
  const text = readFileSync(RECIPE, 'utf8');
  const block = (start: string, language: string) => new RegExp(`\`\`\`${language}\n(${start}[^]*?)\`\`\``).exec(text)![1]!;
  const place = (script: string) => script.replaceAll('/var/lib/weir-feed', space.folder).replaceAll('/etc/nftables.d', space.folder);
  mkdirSync(space.folder, { recursive: true });
  const url = `http://${space.near}:${port}/v1/threat/feeds`;
  writeFileSync(join(space.folder, 'weir.nft'), block('table inet weir\n', 'nft'));
  writeFileSync(join(space.folder, 'load.nft'), place(block('flush set', 'nft')));
  writeFileSync(join(space.folder, 'curl.conf'), `user = "api:${key}"\n`);
  const script = place(block('#!/bin/sh', 'sh'))
    .replace(/^url=.*$/m, `url='${url}?format=set_elements'`)
    .replaceAll('$url?family', '$url&family')
    .replace('/run/weir-feed.loaded', join(space.folder, 'loaded'));
  const file = join(space.folder, 'weir-feed');
  writeFileSync(file, script);
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const { stderr } = await space.within('sh', file).catch((error: { stderr: string }) => error);
      if (stderr !== '') console.error(`timer: ${stderr}`);
      const at = now();
      const elements = new Set(readFileSync(join(space.folder, 'v4.good'), 'utf8').match(/[\d.]+(?=[,\s/])/g));
      for (const name of pending()) if (elements.has(name.slice(1)) === (name[0] === '+')) seen(name, at);
      for (let waited = 0; waited < TIMER && !stopped; waited += 500) await sleep(500);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      await space.stop();
    },
  };
}

/** In the mode of ipset, which it fills fastest; its set is read every half second. Resolves when the set has exactly `rules` networks. */
export async function startCrowdsec(port: string, key: string, rules: number, pending: () => Iterable<string>, seen: Seen): Promise<Host> {
  const space = await namespace();
  await space.within('ipset', 'create', 'weir4', 'hash:net', 'timeout', '300', 'maxelem', '131072');
  await space.within('ipset', 'create', 'weir6', 'hash:net', 'family', 'inet6', 'timeout', '300');
  const config = {
    ...{ mode: 'ipset', pid_dir: space.folder, update_frequency: FREQUENCY, daemonize: false, log_mode: 'stdout', log_level: 'info' },
    ...{ api_url: `http://${space.near}:${port}/`, api_key: key, deny_action: 'DROP', supported_decisions_types: ['ban'] },
    ...{ blacklists_ipv4: 'weir4', blacklists_ipv6: 'weir6', ipset_type: 'nethash', prometheus: { enabled: false } },
  };
  const file = join(space.folder, 'bouncer.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const bouncer = space.start([locate('crowdsec-firewall-bouncer')!, '-c', file]);
  let log = '';
  for (const output of [bouncer.stdout!, bouncer.stderr!]) output.setEncoding('utf8').on('data', (text: string) => (log += text));
  const members = async () => new Set((await space.within('ipset', 'save', 'weir4')).stdout.match(/(?<=^add weir4 )[\d.]+/gm));
  for (const begun = now(); (await members()).size !== rules; await sleep(2000)) {
    if (now() - begun > 300_000) throw new Error(`the bouncer has not loaded its networks: ${log.slice(-1000)}`);
  }
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const has = await members();
      const at = now();
      for (const name of pending()) if (has.has(name.slice(1)) === (name[0] === '+')) seen(name, at);
      await sleep(500);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      await space.stop();
    },
  };
}
