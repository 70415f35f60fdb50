/** Bouncers over feeds in memory: what they are told, and clients that apply it as the real ones do. */
import type { Caller } from '../../src/account/caller.ts';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import type { Clock } from '../../src/clock.ts';
import { Bouncers } from '../../src/decisions/serve/bouncers.ts';
import { findDecisions } from '../../src/decisions/serve/find-decisions.ts';
import { bouncerEndpoints } from '../../src/http/bouncers/answer.ts';
import { type ManualClock, Replica, WORKSPACE } from './feed-world.ts';

export interface Decision {
  readonly id: number;
  readonly duration: string;
  readonly origin: string;
  readonly scenario: string;
  readonly scope: string;
  readonly type: string;
  readonly value: string;
}

export interface StreamBody {
  readonly new: readonly Decision[];
  readonly deleted: readonly Decision[];
}

export interface BouncerReply {
  readonly status: number;
  readonly text: string;
  readonly stream: StreamBody;
  /** What the client's receiving all of it tells the server. */
  readonly onSent: () => void;
}

/** A replica with its bouncers. */
export class BouncerReplica extends Replica {
  readonly bouncers = new Bouncers();
  wait = async (): Promise<boolean> => false;
  readonly #endpoints: ReturnType<typeof bouncerEndpoints>;

  constructor(clock: Clock, ...rest: ConstructorParameters<typeof Replica> extends [unknown, ...infer R] ? R : never) {
    super(clock, ...rest);
    this.#endpoints = bouncerEndpoints({
      decisions: findDecisions(
        this.cache,
        (request) => this.decisions(request),
        () => clock.monotonic(),
      ),
      sign: async () => ({ status: 404 }),
      bouncers: this.bouncers,
      // Nobody waits in a world with a clock of its own, unless a test moves it.
      waiting: { wait: () => this.wait() },
      hits: async () => true,
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      report: (error) => this.errors.push(error),
    });
  }

  /** An answer to the bouncer of this name; it counts as received only once `onSent` is called. */
  async ask(endpoint: 'stream' | 'current', query = '', userAgent = 'test/1', bound: Partial<Caller> = {}): Promise<BouncerReply> {
    const caller = { ...CALLER, ...bound };
    const keepOpen = () => ({ isOpen: true, onClose() {}, end() {} });
    const request = {
      caller,
      userAgent,
      address: '192.0.2.200',
      query,
      acceptEncoding: undefined,
      keepOpen,
      readmit: async () => undefined,
    };
    const answered = await this.#endpoints[endpoint](request);
    if ('status' in answered) return { status: answered.status, text: answered.message ?? '', stream: NOTHING, onSent: () => {} };
    const text = Buffer.from(answered.answer.body as Uint8Array).toString();
    return { status: answered.answer.status, text, stream: JSON.parse(text) as StreamBody, onSent: answered.onSent };
  }

  /** The stream, received whole. */
  async pull(query = '', userAgent?: string, bound?: Partial<Caller>): Promise<StreamBody> {
    const reply = await this.ask('stream', query, userAgent, bound);
    if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.text} ${this.errors.at(-1)?.stack}`);
    reply.onSent();
    return reply.stream;
  }
}

const NOTHING: StreamBody = { new: [], deleted: [] };
/** Who pulls feeds of the workspace. */
export const CALLER: Caller = {
  keyId: 'k',
  workspaceId: WORKSPACE,
  organizationId: 'o',
  subscription: 'active',
  permissions: ['feed:read'],
  listId: null,
  feedId: null,
  guardRails: NO_GUARD_RAILS,
  sample: null,
  networks: [],
  expiresAt: null,
};

/** Seconds of a duration as Go writes it. */
export function secondsOf(duration: string): number {
  const [, sign, hours = '0', minutes = '0', seconds] = /^(-?)(?:(\d+)h)?(?:(\d+)m)?(\d+\.\d+)s$/.exec(duration)!;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** What a firewall holds: what it has is not taken again, and goes when its own time has passed. */
export class Kernel {
  readonly #until = new Map<string, number>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  apply({ new: fresh, deleted }: StreamBody): void {
    this.held();
    for (const { value } of deleted) this.#until.delete(value);
    for (const { value, duration } of fresh) {
      if (!this.#until.has(value)) this.#until.set(value, this.#clock.now() + secondsOf(duration) * 1000);
    }
  }

  held(): string[] {
    for (const [value, until] of this.#until) if (until <= this.#clock.now()) this.#until.delete(value);
    return [...this.#until.keys()].sort();
  }
}

/** A feed's text as the values of decisions. */
export const valuesOf = (feed: string): string[] =>
  feed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line.includes(':') ? line.replace(/\/128$/, '') : line.replace(/\/32$/, '')))
    .sort();
