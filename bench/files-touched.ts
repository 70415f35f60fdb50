/**
 * Files of src and packages with a function called by one signal until it has landed, by the first poll after a change, by the next one (200
 * and 304), and by one `POST /v1/manage/lists`: `node bench/files-touched.ts [--names]`. All threads count. Each request was made before, and
 * has loaded its modules. Functions that the idle service calls in the same time do not count.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printTable } from './support/load.ts';

const { values } = parseArgs({ options: { names: { type: 'boolean', default: false } } });
const KEY = 'files-touched-bootstrap-key-01234567';
const WINDOW = 2000;
const root = new URL('..', import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const service = spawn(process.execPath, ['--import', `${root}bench/support/touched.ts`, `${root}src/main.ts`, 'serve'], {
  env: {
    ...process.env,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
    DATA_DIR: dir,
    BOOTSTRAP_API_KEY: KEY,
    FEED_REBUILD_SECONDS: '2',
  },
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
const url = await new Promise<string>((resolve) => {
  service.stdout!.on('data', (text) => {
    const [, found] = /weir ready on (\S+)/.exec(String(text)) ?? [];
    if (found !== undefined) resolve(found);
  });
});

async function ask(method: string, path: string, body?: unknown, tag?: string) {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    ...(tag !== undefined && { 'if-none-match': tag }),
  };
  const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  await response.arrayBuffer();
  if (response.status >= 400) throw new Error(`${method} ${path} is answered with ${response.status}`);
  return response;
}

/** The functions called while something is done, and for the rest of the time. */
async function during(action: () => Promise<unknown>): Promise<Set<string>> {
  const found = new Set<string>();
  const take = async () => {
    const add = (functions: unknown) => {
      for (const each of functions as string[]) found.add(each);
    };
    service.on('message', add);
    service.send('take');
    // All threads answer within this time; each answers once.
    await sleep(500);
    service.off('message', add);
  };
  await take();
  found.clear();
  await action();
  await sleep(WINDOW);
  await take();
  return found;
}

let made = 0;
const FEED = '/v1/threat/feeds';
const signal = () => ask('POST', '/v1/signal', [{ type: 'access_rules', action: 'block', ip: `20.0.0.${++made}` }]);
const poll = async () => {
  const { headers } = await ask('GET', FEED);
  await ask('GET', FEED, undefined, headers.get('etag')!);
};
type Action = () => Promise<unknown>;
const nothing: Action = async () => {};
/** Each with the number of files to reach, and an action before it that does not count. */
const ACTIONS: Readonly<Record<string, readonly [goal: number, before: Action, action: Action]>> = {
  'a signal, until it has landed': [45, nothing, signal],
  'the first poll after a change': [50, signal, poll],
  'the next poll: 200 and 304': [50, poll, poll],
  'POST /v1/manage/lists': [30, nothing, () => ask('POST', '/v1/manage/lists', { name: `list ${++made}` })],
};

for (let n = 0; n < 2; n += 1) {
  for (const [, , action] of Object.values(ACTIONS)) await action();
  await sleep(WINDOW);
}
const idle = await during(nothing);
const rows: (readonly (string | number)[])[] = [['', 'files', 'goal', 'with those of the idle service']];
for (const [name, [goal, before, action]] of Object.entries(ACTIONS)) {
  await before();
  const called = await during(action);
  const filesOf = (functions: readonly string[]) => [...new Set(functions.map((each) => each.split(' ')[0]!))].sort();
  const own = filesOf([...called].filter((each) => !idle.has(each)));
  rows.push([name, own.length, goal, filesOf([...called]).length]);
  if (values.names) {
    console.log(`\n${name}`);
    for (const file of own)
      console.log(
        `  ${file}  ${[...called]
          .filter((each) => !idle.has(each) && each.startsWith(`${file} `))
          .map((each) => each.split(' ')[1])
          .join(' ')}`,
      );
  }
}
printTable(rows);
service.kill();
rmSync(dir, { recursive: true });
