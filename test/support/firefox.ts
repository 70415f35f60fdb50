/** Firefox without a window, by WebDriver BiDi: the same page as that of browser.ts. Names resolve nowhere: it reaches this machine's loopback only. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type Page, saidBy } from './browser.ts';
import { locate } from './programs.ts';

/** Nothing of another host: no updates, no reports, no proxy but one that nobody listens at. */
const PREFS = `
user_pref('network.proxy.type', 1);
user_pref('network.proxy.http', '127.0.0.1');
user_pref('network.proxy.http_port', 9);
user_pref('network.proxy.ssl', '127.0.0.1');
user_pref('network.proxy.ssl_port', 9);
user_pref('network.proxy.no_proxies_on', '127.0.0.1');
user_pref('app.update.disabledForTesting', true);
user_pref('datareporting.policy.dataSubmissionEnabled', false);
user_pref('toolkit.telemetry.server', '');
user_pref('browser.safebrowsing.downloads.remote.enabled', false);
user_pref('browser.startup.homepage_override.mstone', 'ignore');
user_pref('remote.active-protocols', 1);
`;

/** Keys as WebDriver writes them. */
const KEYS: Readonly<Record<string, string>> = {
  Enter: '\ue007',
  Escape: '\ue00c',
  Tab: '\ue004',
  ArrowLeft: '\ue012',
  ArrowUp: '\ue013',
  ArrowRight: '\ue014',
  ArrowDown: '\ue015',
  PageUp: '\ue00e',
  PageDown: '\ue00f',
  End: '\ue010',
  Home: '\ue011',
  Shift: '\ue008',
};

type Params = Record<string, unknown>;

/** Starts Firefox with a new profile. */
export async function startFirefox(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'weir-firefox-'));
  writeFileSync(join(profile, 'user.js'), PREFS);
  const flags = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile, 'about:blank'];
  const child = spawn(locate('firefox-esr')!, flags, {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    env: { ...process.env, HOME: profile },
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  // All of its processes.
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  };
  process.once('exit', kill);
  const socket = new WebSocket(`${await saidBy(child, /^WebDriver BiDi listening on (ws:\S+)$/m)}/session`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  const listeners = new Map<string, (method: string, params: Params) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, type, result, message, method, params } = JSON.parse(String(data));
    if (type === 'event') listeners.get(params.context ?? params.source?.context)?.(method, params);
    else if (type === 'success') waiting.get(id)?.resolve(result as never);
    else waiting.get(id)?.reject(new Error(message));
  };
  const call = <T = Params>(method: string, params: Params = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await call('session.new', { capabilities: {} });
  await call('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });

  return {
    async page(): Promise<Page> {
      const { context } = await call<{ context: string }>('browsingContext.create', { type: 'tab' });
      const [requests, complaints]: [string[], string[]] = [[], []];
      listeners.set(context, (method, params) => {
        if (method === 'network.beforeRequestSent') requests.push((params.request as { url: string }).url);
        else if (params.level === 'error') complaints.push(String(params.text));
      });
      const evaluate = async <T>(expression: string): Promise<T> => {
        const answer = await call<{ result?: { value?: string }; exceptionDetails?: { text: string } }>('script.evaluate', {
          ...{ expression: `(async () => JSON.stringify(await (${expression})))()`, awaitPromise: true },
          target: { context },
        });
        if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.text);
        return answer.result?.value === undefined ? (undefined as T) : JSON.parse(answer.result.value);
      };
      const press = (keys: readonly string[]) => {
        const of = (type: string) => (value: string) => ({ type, value });
        const actions = [...keys.map(of('keyDown')), ...keys.toReversed().map(of('keyUp'))];
        return call('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
      };
      return {
        requests,
        complaints,
        evaluate,
        async open(url) {
          await call('browsingContext.navigate', { context, url, wait: 'interactive' });
        },
        async type(text) {
          for (const key of text) await press([key]);
        },
        async press(key, { shift = false } = {}) {
          await press([...(shift ? [KEYS.Shift!] : []), KEYS[key] ?? key]);
        },
        async look(width, height) {
          await call('browsingContext.setViewport', { context, viewport: { width, height } });
        },
        async picture() {
          const { data } = await call<{ data: string }>('browsingContext.captureScreenshot', { context });
          return Buffer.from(data, 'base64');
        },
        command: (method, params = {}) => call(method, { context, ...params }),
      };
    },
    async close() {
      process.off('exit', kill);
      kill();
      await exited;
      socket.close();
      // Its other processes end a moment later.
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
