/** What rounds are done to: the parts that can be killed, the links that can be broken, and the clock. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAIN, testEnvironment } from '../support/weir.ts';
import type { Link } from './links.ts';
import type { Harm, Targets } from './plan.ts';

/** A process that somebody kills. */
export interface Part {
  /** Ends it as it stands; it is started again after `ms`. */
  kill(ms: number): Promise<void>;
  /** Asks it to end, where it can be asked. */
  term?(): Promise<void>;
  pause(): void;
  resume(): void;
}

export interface World {
  readonly engine: string;
  readonly key: string;
  /** Ports of links to what answers clients; `any` leads to one after the other of those of feeds. */
  readonly ports: {
    readonly signals: readonly number[];
    readonly manage: number;
    readonly feeds: readonly number[];
    readonly any?: number;
  };
  readonly targets: Targets;
  readonly parts: ReadonlyMap<string, Part>;
  readonly links: ReadonlyMap<string, Link>;
  /** What only this world can do, by the name of the harm. */
  readonly own: Readonly<Record<string, (harm: Harm) => Promise<void>>>;
  readonly clock: SetClock;
  /** Where sources are fetched from: a port that leads to the server of lists. */
  readonly origin: number;
  /** What a process that is gone has held is free. */
  passTime(): Promise<void>;
  /** How many processes have been started. */
  readonly starts: () => number;
  /** Where what a process had on its way may arrive when it has ended: how many there have been. */
  readonly lives?: () => number;
  /** Parts that have ended though nobody ended them, with what they said last. */
  readonly ended: string[];
  /** How long after the last harm clients may wait for an answer, and feeds and whoever polls them may differ, ms. */
  readonly patience: { readonly answers: number; readonly feeds: number };
  /** Resolves when all its parts are there again. */
  whole?(): Promise<void>;
  /** What has to hold in this world besides, when all is well again; rejects with a violation. */
  check?(): Promise<void>;
  stop(): Promise<void>;
}

export interface SetClock {
  /** By which the clock of weir is off, ms. */
  off: number;
  /** Whether somebody has set it. */
  wasSet: boolean;
  /** The instant of weir's clock, ms. */
  now(): number;
  set(off: number): void;
}

/** The clock that `test/support/settable-clock.ts` reads in every weir. */
export function clockIn(file: string): SetClock {
  const clock: SetClock = {
    off: 0,
    wasSet: false,
    now: () => Date.now() + clock.off,
    set(off) {
      writeFileSync(`${file}.new`, String(off));
      renameSync(`${file}.new`, file);
      Object.assign(clock, { off, wasSet: true });
    },
  };
  clock.set(0);
  clock.wasSet = false;
  return clock;
}

/** A process that is started again whenever it ends, as an init system does it; from now on until `stop`. */
export interface Kept extends Part {
  term(): Promise<void>;
  starts(): number;
  stop(): Promise<void>;
}

/** How a process has ended. */
export interface End {
  readonly code: number | null;
  /** How it was asked to. */
  readonly asked: NodeJS.Signals | undefined;
  /** It had said that it is ready. */
  readonly isReady: boolean;
}

export interface Kind {
  readonly name: string;
  begin(): ChildProcess;
  /** What it prints on standard output when it is ready. */
  readonly ready: string;
  /** Whether it may end so. */
  mayEnd(end: End): boolean;
}

/** Before a process that ended by itself is started again, ms. */
const PAUSE = 200;

/** `ended` is told of ends that nobody asked for. */
export function keep({ name, begin, ready, mayEnd }: Kind, ended: string[]): Kept {
  let child: ChildProcess;
  // How the present process was asked to end, and when the next one begins.
  let asked: NodeJS.Signals | undefined;
  let [stopped, pause, starts] = [false, PAUSE, 0];
  const killNow = () => child.kill('SIGKILL');
  process.on('exit', killNow);

  async function run(): Promise<void> {
    let [isReady, log] = [false, ''];
    [asked, pause, starts] = [undefined, PAUSE, starts + 1];
    child = begin();
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      isReady ||= text.includes(ready);
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-3000);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (asked !== 'SIGKILL' && !stopped && !mayEnd({ code, asked, isReady })) ended.push(`${name} ended with ${code}: ${log}`);
    if (!stopped) await sleep(pause);
  }
  const running = (async () => {
    while (!stopped) await run();
  })();
  const end = (signal: NodeJS.Signals) => {
    if (asked !== 'SIGKILL') asked = signal;
    child.kill(signal);
  };

  return {
    async kill(ms) {
      end('SIGKILL');
      pause = ms;
    },
    async term() {
      end('SIGTERM');
      pause = 0;
    },
    starts: () => starts,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      stopped = true;
      child.kill('SIGKILL');
      await running;
      process.off('exit', killNow);
    },
  };
}

/** A weir that is kept so. */
export const keepWeir = (name: string, settings: Readonly<Record<string, string>>, ended: string[]): Kept =>
  keep(
    {
      name,
      begin: () => spawn(process.execPath, [MAIN, 'serve'], { env: testEnvironment(settings), stdio: ['ignore', 'pipe', 'pipe'] }),
      ready: 'weir ready on',
      // Before it is ready it may find its engine or its disk away (D1.25), and nobody has to wait for it (D1.4).
      mayEnd: ({ code, asked, isReady }) => (isReady ? asked === 'SIGTERM' && code === 0 : code === 1 || asked === 'SIGTERM'),
    },
    ended,
  );
