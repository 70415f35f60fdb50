import { secondOf, within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { BuildResult } from '../builder.ts';
import type { Variant } from '../variant.ts';
import { PATIENCE, type ServeContext, SHORT_PATIENCE } from './context.ts';
import type { Directory } from './directory.ts';
import { type Representation, representationOf, type TooLarge } from './representation.ts';
import type { Moment } from './single-flight.ts';
import { VariantState } from './variant-state.ts';

/** How long the last good snapshot is served, ms. */
const LONGEST_OUTAGE = 24 * 3_600_000;
const RECORD_LIMIT = 2_000;
/** How often a build is repeated because a rule lapsed while it ran. */
const ROUNDS = 3;
const NEVER = Number.NEGATIVE_INFINITY;

/** What a feed needs of the workspace that it belongs to. */
export interface FeedOwner {
  readonly id: string;
  /** The directory as last read; undefined before the first read, and when the workspace is gone. */
  readonly directory: Directory | undefined;
  /** When its read began, in the order of things. */
  readonly readBegan: Moment;
  /** ms: when the store was asked for it. */
  readonly readAt: number;
  /** ms: until then it counts as current. */
  readonly freshUntil: number;
  /** Whether the last read failed. */
  readonly failed: boolean;
  readonly feeds: Map<string | null, ServedFeed>;
}

/** One feed: what is known of its snapshot, which the builder holds, and what is served of its views. */
export class ServedFeed {
  readonly listId: string | null;
  usedAt = NEVER;
  readonly #workspace: FeedOwner;
  readonly #context: ServeContext;
  readonly #views = new Map<Variant, VariantState>();
  /** Of the snapshot; -1 before there is one. */
  #generation = -1;
  #revision = -1;
  /** When the snapshot was read, ms. */
  #readAt = NEVER;
  /** The store's clock when the snapshot was read or its revision last found unmoved, ms. */
  #takenAt = 0;
  /** When the snapshot was last known to be current, ms. */
  #goodAt = NEVER;
  /** ms: until then the snapshot counts as current. */
  #validUntil = NEVER;
  /** ms: until then the store is left alone, because a build has failed; 0 when the last one has not. */
  #retryAt = 0;

  constructor(workspace: FeedOwner, listId: string | null, context: ServeContext) {
    this.#workspace = workspace;
    this.listId = listId;
    this.#context = context;
  }

  /** What can be served of a variant at once, or undefined. */
  ready(variant: Variant, now: number): Representation | TooLarge | undefined {
    return this.#views.get(variant)?.served(now);
  }

  /** What is served of a variant, once it is good for now; undefined when the feed is gone. With `withBody` its bytes are held. */
  async serve(variant: Variant, arrival: Moment, withBody: boolean): Promise<Representation | TooLarge | undefined> {
    const state = this.#state(variant);
    this.usedAt = arrival.at;
    state.promote(arrival.at);
    const ready = state.served(arrival.at);
    if (ready !== undefined && (!withBody || state.hasBody())) return ready;
    if (this.#workspace.failed || arrival.at < this.#retryAt) return this.#rescue(state, arrival, withBody, undefined);
    const deadline = arrival.at + PATIENCE;
    try {
      for (let round = 1, asked = arrival; ; round++, asked = this.#context.moment()) {
        const patience = this.#retryAt > 0 ? SHORT_PATIENCE : Math.max(SHORT_PATIENCE, deadline - this.#context.now());
        await state.building.join(asked, () => this.#context.limited(this.#renew(state, withBody), patience));
        // A rule may have lapsed while it was built.
        if (state.current === undefined || state.lasts(this.#context.now()) || round === ROUNDS) return state.current?.outcome;
      }
    } catch (error) {
      this.#retryAt = this.#context.now() + this.#context.pause;
      return this.#rescue(state, arrival, withBody, error);
    }
  }

  /** Drops all of it, here and in the builder. */
  forget(): void {
    for (const state of this.#views.values()) state.clear();
    this.#workspace.feeds.delete(this.listId);
    const { builder, report } = this.#context.options;
    builder.forget(this.#workspace.id, this.listId).catch(report);
  }

  #state(variant: Variant): VariantState {
    let state = this.#views.get(variant);
    if (state === undefined) {
      state = new VariantState(variant, this.#context.bodies, this.#context.shared(), this.#context.shared());
      this.#views.set(variant, state);
    }
    return state;
  }

  /** Makes the current content of a variant good for now: by finding that nothing has moved, or by a build. */
  async #renew(state: VariantState, withBody: boolean): Promise<void> {
    const { directory, readBegan } = this.#workspace;
    const named = directory?.feed(this.listId);
    if (named === undefined) {
      state.clear();
      return;
    }
    const isNewer = readBegan.sequence > this.#generation;
    const moved = isNewer && named.revision !== this.#revision;
    if (isNewer && !moved) this.#confirm(directory!.takenAt);
    const mustRead = this.#generation < 0 || (moved && this.#context.now() >= this.#readAt + this.#context.interval);
    if (mustRead || (withBody && !state.hasBody()) || !(await this.#stands(state))) {
      this.#accept(state, await this.#build(state, mustRead ? readBegan.sequence : 0, false), undefined);
    }
    this.#retryAt = 0;
  }

  /** The snapshot's revision has not moved: it is as good as read with the directory. */
  #confirm(takenAt: number): void {
    this.#takenAt = takenAt;
    this.#goodAt = Math.max(this.#goodAt, this.#workspace.readAt);
    this.#validUntil = Math.max(this.#validUntil, this.#workspace.freshUntil);
  }

  /** Whether the current content may stay, because it is of the snapshot that is valid and the store's record says the same of it. */
  async #stands(state: VariantState): Promise<boolean> {
    const { store, geoVersion, clock } = this.#context.options;
    const now = clock.now();
    const cached = state.current;
    if (cached?.generation !== this.#generation || cached.geoVersion !== geoVersion() || !state.lasts(now)) return false;
    const outcome = { ...cached.outcome, staleSince: undefined };
    const recordedAt = this.#workspace.readBegan.sequence;
    if (outcome.kind === 'feed' && cached.recordedAt < recordedAt) {
      const { hash, lastModified } = outcome;
      const seen = { hash, snapshotAt: this.#takenAt, second: secondOf(now) };
      const record = store.recordFeed(this.#workspace.id, { listId: this.listId, ...state.variant }, seen);
      const row = await within(record, RECORD_LIMIT, 'the store', clock).catch(() => undefined);
      // Another replica may have set another beginning; while the store cannot be written it lives in memory.
      if (row !== undefined && (row.hash !== hash || row.since > lastModified)) return false;
      if (state.current !== cached) return false;
    }
    state.extend({ outcome, recordedAt, validUntil: this.#validUntil });
    return true;
  }

  /** The last good snapshot, without the rules that have lapsed since, while the store does not answer. */
  async #rescue(state: VariantState, arrival: Moment, withBody: boolean, cause: unknown): Promise<Representation | TooLarge> {
    const now = this.#context.now();
    if (this.#generation < 0 || now - this.#goodAt > LONGEST_OUTAGE)
      throw new WeirError('FEED_UNAVAILABLE', 'there is no good snapshot', { cause });
    const staleSince = secondOf(this.#goodAt);
    const cached = state.current;
    if (cached?.generation === this.#generation && state.lasts(now) && (!withBody || state.hasBody())) {
      state.extend({ outcome: { ...cached.outcome, staleSince }, validUntil: now + this.#context.pause });
    } else {
      const build = async () => this.#accept(state, await this.#build(state, 0, true), staleSince);
      await state.rescue.join(arrival, () => this.#context.limited(build(), PATIENCE));
    }
    return state.current!.outcome;
  }

  #build(state: VariantState, generation: number, offline: boolean): Promise<BuildResult> {
    const shown = state.shown(this.#context.now());
    const request = { workspaceId: this.#workspace.id, listId: this.listId, variant: state.variant, confirmedAt: this.#takenAt, shown };
    return this.#context.options.builder.build({ ...request, generation, offline });
  }

  /** Takes in a build; `staleSince` (seconds) when it was made without the store. */
  #accept(state: VariantState, result: BuildResult, staleSince: number | undefined): void {
    if (result.kind === 'no_snapshot') throw new WeirError('FEED_UNAVAILABLE', 'there is no snapshot in memory');
    if (result.kind === 'gone') {
      this.forget();
      return;
    }
    // A build that was given up and answers late must not undo a later one.
    if (result.readAt < this.#readAt) return;
    const { generation, geoVersion, readAt, until, entryCount, entryLimit } = result;
    if (generation !== this.#generation || readAt !== this.#readAt) {
      this.#generation = generation;
      this.#revision = result.revision;
      this.#takenAt = result.takenAt;
      this.#readAt = this.#goodAt = readAt;
      this.#validUntil = readAt + this.#context.interval;
    }
    const now = this.#context.now();
    const validUntil = staleSince === undefined ? this.#validUntil : now + this.#context.pause;
    const basis = { generation, geoVersion, until, validUntil, recordedAt: this.#workspace.readBegan.sequence };
    if (result.kind === 'too_large') {
      const outcome: TooLarge = { kind: 'too_large', entryCount, entryLimit, hint: result.hint, staleSince };
      state.accept({ ...basis, outcome, provisional: false }, 0, now);
    } else {
      const body = this.#context.bodies.hold(result.bytes);
      const outcome = { ...representationOf(result, state.variant, body, this.#context.options.zlib), staleSince };
      state.accept({ ...basis, outcome, provisional: result.provisional }, result.begins, now);
    }
  }
}
