/** A real browser without a window, by the DevTools protocol. Names resolve nowhere: it reaches this machine's loopback only. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from './programs.ts';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-port=0'],
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** What the protocol calls keys that are no characters. */
const KEY_CODES: Readonly<Record<string, number>> = { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38 };

type Params = Record<string, unknown>;

export interface Page {
  /** The addresses of everything that the page asked for, in order. */
  readonly requests: readonly string[];
  /** What it complained about: uncaught exceptions and errors of the console. */
  readonly complaints: readonly string[];
  open(url: string): Promise<void>;
  /** The value of an expression in the page; promises are waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** Types a text where the focus is. */
  type(text: string): Promise<void>;
  /** Presses a key, such as `Enter` or `/`; with Shift held where that is said. */
  press(key: string, held?: { readonly shift?: boolean }): Promise<void>;
  /** The size of the window in CSS pixels, and which colours the system prefers. */
  look(width: number, height: number, scheme: 'light' | 'dark'): Promise<void>;
  /** A picture of the window, or of the whole page, as PNG. */
  picture(whole?: boolean): Promise<Buffer>;
  /** A command of the protocol as it is. */
  command(method: string, params?: Params): Promise<Params>;
}

export interface Browser {
  page(): Promise<Page>;
  close(): Promise<void>;
}

/** Starts chromium with a new profile. */
export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'weir-browser-'));
  const child = spawn(locate('chromium')!, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  // All of its processes.
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  };
  process.once('exit', kill);
  const socket = new WebSocket(await saidBy(child, /^DevTools listening on (ws:\S+)$/m));
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  const listeners = new Map<string, (method: string, params: Params) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params, sessionId } = JSON.parse(String(data));
    if (id === undefined) listeners.get(sessionId)?.(method, params);
    else if (error === undefined) waiting.get(id)?.resolve(result as never);
    else waiting.get(id)?.reject(new Error(error.message));
  };
  const call = <T = Params>(method: string, params: Params = {}, sessionId?: string): Promise<T> =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });

  return {
    async page() {
      const { targetId } = await call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      const [requests, complaints]: [string[], string[]] = [[], []];
      listeners.set(sessionId, (method, params) => note(method, params, requests, complaints));
      for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await call(`${domain}.enable`, {}, sessionId);
      return {
        requests,
        complaints,
        async open(url) {
          await call('Page.navigate', { url }, sessionId);
        },
        async evaluate(expression) {
          const answer = await call<{ result: { value: never }; exceptionDetails?: { exception?: { description?: string } } }>(
            'Runtime.evaluate',
            { expression, awaitPromise: true, returnByValue: true },
            sessionId,
          );
          if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description);
          return answer.result.value;
        },
        async type(text) {
          await call('Input.insertText', { text }, sessionId);
        },
        async press(key, { shift = false } = {}) {
          const modifiers = shift ? 8 : 0;
          const text = key.length === 1 ? key : { Enter: '\r' }[key];
          const windowsVirtualKeyCode = KEY_CODES[key] ?? key.toUpperCase().charCodeAt(0);
          await call(
            'Input.dispatchKeyEvent',
            { type: text === undefined ? 'rawKeyDown' : 'keyDown', key, text, modifiers, windowsVirtualKeyCode },
            sessionId,
          );
          await call('Input.dispatchKeyEvent', { type: 'keyUp', key, modifiers, windowsVirtualKeyCode }, sessionId);
        },
        async look(width, height, scheme) {
          await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }, sessionId);
          await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] }, sessionId);
        },
        async picture(whole = false) {
          const { data } = await call<{ data: string }>(
            'Page.captureScreenshot',
            { format: 'png', captureBeyondViewport: whole },
            sessionId,
          );
          return Buffer.from(data, 'base64');
        },
        command: (method, params) => call(method, params, sessionId),
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

function note(method: string, params: Params, requests: string[], complaints: string[]): void {
  const text = JSON.stringify(params);
  if (method === 'Network.requestWillBeSent') requests.push((params.request as { url: string }).url);
  else if (method === 'Runtime.exceptionThrown') complaints.push(text);
  else if (method === 'Runtime.consoleAPICalled' && params.type === 'error') complaints.push(text);
  // Other tests add network interfaces to the machine.
  else if (method === 'Log.entryAdded' && (params.entry as { level: string }).level === 'error' && !text.includes('ERR_NETWORK_CHANGED'))
    complaints.push(text);
}

/** Where a browser listens, which it says on standard error. */
export function saidBy(child: ChildProcess, where: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
      const found = where.exec(said);
      if (found !== null) resolve(found[1]!);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the browser has ended: ${said}`)));
  });
}
