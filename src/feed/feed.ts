import type { BuildResult } from './build.ts';
import { secondOf, within } from './clock.ts';
import type { View } from './names.ts';
import { type Representation, representationOf, type TooLarge } from './representation.ts';
import type { Moment } from './shared-work.ts';
import { FeedUnavailable, PATIENCE, SHORT_PATIENCE, type Upkeep } from './upkeep.ts';
import { ViewState } from './view-state.ts';
import type { Workspace } from './workspace.ts';

/** How long the last good snapshot is served, ms. */
const LONGEST_OUTAGE = 24 * 3_600_000;
const RECORD_LIMIT = 2_000;
/** How often a build is repeated because a rule lapsed while it ran. */
const ROUNDS = 3;
const NEVER = Number.NEGATIVE_INFINITY;

/** One feed: what is known of its snapshot, which the builder holds, and what is served of its views. */
export class Feed {
  readonly listId: string | null;
  usedAt = NEVER;
  readonly #workspace: Workspace;
  readonly #upkeep: Upkeep;
  readonly #views = new Map<View, ViewState>();
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

  constructor(workspace: Workspace, listId: string | null, upkeep: Upkeep) {
    this.#workspace = workspace;
    this.listId = listId;
    this.#upkeep = upkeep;
  }

  /** What can be served of a view at once, or undefined. */
  ready(view: View, now: number): Representation | TooLarge | undefined {
    return this.#views.get(view)?.served(now);
  }

  /** What is served of a view, once it is good for now; undefined when the feed is gone. With `withBody` its bytes are held. */
  async serve(view: View, arrival: Moment, withBody: boolean): Promise<Representation | TooLarge | undefined> {
    const state = this.#state(view);
    this.usedAt = arrival.at;
    state.promote(arrival.at);
    const ready = state.served(arrival.at);
    if (ready !== undefined && (!withBody || state.hasBody())) return ready;
    if (this.#workspace.failed || arrival.at < this.#retryAt) return this.#rescue(state, arrival, withBody, undefined);
    const deadline = arrival.at + PATIENCE;
    try {
      for (let round = 1, asked = arrival; ; round++, asked = this.#upkeep.moment()) {
        const patience = this.#retryAt > 0 ? SHORT_PATIENCE : Math.max(SHORT_PATIENCE, deadline - this.#upkeep.now());
        await state.building.join(asked, () => this.#upkeep.limited(this.#renew(state, withBody), patience));
        // A rule may have lapsed while it was built.
        if (state.current === undefined || state.lasts(this.#upkeep.now()) || round === ROUNDS) return state.current?.outcome;
      }
    } catch (error) {
      this.#retryAt = this.#upkeep.now() + this.#upkeep.pause;
      return this.#rescue(state, arrival, withBody, error);
    }
  }

  /** Drops all of it, here and in the builder. */
  forget(): void {
    for (const state of this.#views.values()) state.clear();
    this.#workspace.feeds.delete(this.listId);
    const { builder, report } = this.#upkeep.options;
    builder.forget(this.#workspace.id, this.listId).catch(report);
  }

  #state(view: View): ViewState {
    let state = this.#views.get(view);
    if (state === undefined) {
      state = new ViewState(view, this.#upkeep.bodies, this.#upkeep.shared(), this.#upkeep.shared());
      this.#views.set(view, state);
    }
    return state;
  }

  /** Makes the current content of a view good for now: by finding that nothing has moved, or by a build. */
  async #renew(state: ViewState, withBody: boolean): Promise<void> {
    const { directory, readBegan } = this.#workspace;
    const named = directory?.feed(this.listId);
    if (named === undefined) {
      state.clear();
      return;
    }
    const isNewer = readBegan.tick > this.#generation;
    const moved = isNewer && named.revision !== this.#revision;
    if (isNewer && !moved) this.#confirm(directory!.takenAt);
    const mustRead = this.#generation < 0 || (moved && this.#upkeep.now() >= this.#readAt + this.#upkeep.interval);
    if (mustRead || (withBody && !state.hasBody()) || !(await this.#stands(state))) {
      this.#accept(state, await this.#build(state, mustRead ? readBegan.tick : 0, false), undefined);
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
  async #stands(state: ViewState): Promise<boolean> {
    const { store, geoVersion, clock } = this.#upkeep.options;
    const now = clock.now();
    const standing = state.current;
    if (standing?.generation !== this.#generation || standing.geoVersion !== geoVersion() || !state.lasts(now)) return false;
    const outcome = { ...standing.outcome, staleSince: undefined };
    const recordedAt = this.#workspace.readBegan.tick;
    if (outcome.kind === 'feed' && standing.recordedAt < recordedAt) {
      const { hash, lastModified } = outcome;
      const seen = { hash, snapshotAt: this.#takenAt, second: secondOf(now) };
      const record = store.recordFeed(this.#workspace.id, { listId: this.listId, ...state.view }, seen);
      const row = await within(record, RECORD_LIMIT, clock, 'the store').catch(() => undefined);
      // Another replica may have set another beginning; while the store cannot be written it lives in memory.
      if (row !== undefined && (row.hash !== hash || row.since > lastModified)) return false;
      if (state.current !== standing) return false;
    }
    state.extend({ outcome, recordedAt, validUntil: this.#validUntil });
    return true;
  }

  /** The last good snapshot, without the rules that have lapsed since, while the store does not answer. */
  async #rescue(state: ViewState, arrival: Moment, withBody: boolean, cause: unknown): Promise<Representation | TooLarge> {
    const now = this.#upkeep.now();
    if (this.#generation < 0 || now - this.#goodAt > LONGEST_OUTAGE) throw new FeedUnavailable('there is no good snapshot', { cause });
    const staleSince = secondOf(this.#goodAt);
    const standing = state.current;
    if (standing?.generation === this.#generation && state.lasts(now) && (!withBody || state.hasBody())) {
      state.extend({ outcome: { ...standing.outcome, staleSince }, validUntil: now + this.#upkeep.pause });
    } else {
      const build = async () => this.#accept(state, await this.#build(state, 0, true), staleSince);
      await state.rescue.join(arrival, () => this.#upkeep.limited(build(), PATIENCE));
    }
    return state.current!.outcome;
  }

  #build(state: ViewState, generation: number, offline: boolean): Promise<BuildResult> {
    const shown = state.shown(this.#upkeep.now());
    const request = { workspaceId: this.#workspace.id, listId: this.listId, view: state.view, confirmedAt: this.#takenAt, shown };
    return this.#upkeep.options.builder.build({ ...request, generation, offline });
  }

  /** Takes in a build; `staleSince` (seconds) when it was made without the store. */
  #accept(state: ViewState, result: BuildResult, staleSince: number | undefined): void {
    if (result.kind === 'no_snapshot') throw new FeedUnavailable('there is no snapshot in memory');
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
      this.#validUntil = readAt + this.#upkeep.interval;
    }
    const now = this.#upkeep.now();
    const validUntil = staleSince === undefined ? this.#validUntil : now + this.#upkeep.pause;
    const basis = { generation, geoVersion, until, validUntil, recordedAt: this.#workspace.readBegan.tick };
    if (result.kind === 'too_large') {
      const outcome: TooLarge = { kind: 'too_large', entryCount, entryLimit, hint: result.hint, staleSince };
      state.accept({ ...basis, outcome, provisional: false }, 0, now);
    } else {
      const body = this.#upkeep.bodies.hold(result.bytes);
      const outcome = { ...representationOf(result, state.view, body, this.#upkeep.options.zlib), staleSince };
      state.accept({ ...basis, outcome, provisional: result.provisional }, result.begins, now);
    }
  }
}
