import { type Instant, within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { SingleFlight } from '../../schedule/single-flight.ts';
import { isCanaryId, plainId } from '../canary.ts';
import type { DocumentKind, DocumentVariant } from '../document.ts';
import type { ReadStamp } from '../read-stamp.ts';
import { FAILING_STORE_TIMEOUT, type ServeContext, STORE_TIMEOUT } from './context.ts';
import { goodRead, isFreshFor, NEVER_READ, type WorkspaceRead } from './reads.ts';
import type { Representation, TooLarge } from './representation.ts';
import { type NamedFeed, type Resolution, resolutionOf, workspaceFeed } from './resolution.ts';
import { ServedDocument } from './served-document.ts';

/** Longest wait, ms. */
const CAUGHT_UP_LIMIT = 2_000;
const UUID_LENGTH = 36;
/** Documents per kind: more than the default MAX_LISTS. */
const MOST_DOCUMENTS = 12_000;

export interface Known {
  readonly resolution: Resolution;
  readonly read: WorkspaceRead;
}

interface Answer {
  readonly ref: string | null;
  readonly sequence: number;
  readonly known: Known | undefined;
}

/**
 * A workspace's requested names and documents, on the main thread. The store is asked for single names; one read confirms all known names
 * while the revision is unchanged. Unknown names are not cached: new lists are found immediately, and strangers cannot fill memory.
 */
export class ServedWorkspace {
  readonly id: string;
  readonly #context: ServeContext;
  /** By UUID of the list or composed feed; null: the workspace's. */
  readonly #documents = new Map<DocumentKind, Map<string | null, ServedDocument>>();
  readonly #names = new Map<string, Known>();
  #own: Known | undefined;
  #last = NEVER_READ;
  readonly #reading: SingleFlight<Answer>;
  readonly #lookingUp = new Map<string | null, SingleFlight<Answer>>();

  constructor(id: string, context: ServeContext) {
    this.id = id;
    this.#context = context;
    this.#reading = context.singleFlight();
  }

  get isEmpty(): boolean {
    return this.#served().next().done === true;
  }

  feeds(): Iterable<ServedDocument> {
    return (
      this.#documents
        .get('feed')
        ?.values()
        .filter(({ feedId }) => !isCanaryId(feedId)) ?? []
    );
  }

  /** `ref` null: the workspace's feed. undefined: a read is due at `monotonic` (ms). */
  recall(ref: string | null, monotonic: number): NamedFeed | undefined {
    if (monotonic >= this.#last.freshUntil) return undefined;
    const known = this.#find(ref);
    if (known?.resolution.kind !== 'named') return undefined;
    return monotonic < this.#readOf(known).freshUntil && this.#stands(known) ? known.resolution : undefined;
  }

  ready(feedId: string | null, variant: DocumentVariant, at: Instant): Representation | TooLarge | undefined {
    return this.#documents.get(variant.document)?.get(feedId)?.ready(variant, at);
  }

  /**
   * Fresh for the arrival, or `isUrgent` and read from now on, without a wait for landing; undefined for an unknown workspace. While the
   * store does not answer: the last known result, or FEED_UNAVAILABLE.
   */
  async resolve(ref: string | null, arrival: ReadStamp, isUrgent: boolean): Promise<Known | undefined> {
    let cause: unknown;
    const { failed, revision, freshUntil } = this.#last;
    if (!failed || revision === undefined || arrival.monotonic >= freshUntil) {
      try {
        return await (isUrgent ? this.#lookUp(ref, newest(arrival)) : this.#resolve(ref, arrival));
      } catch (error) {
        cause = error;
        this.#last = { ...this.#last, freshUntil: this.#context.monotonic() + this.#context.pause, failed: true };
      }
    }
    const known = this.#find(ref) ?? this.#findById(ref);
    if (known === undefined) throw new WeirError('FEED_UNAVAILABLE', 'the store does not answer', { cause });
    return { ...known, read: this.#last };
  }

  document(document: DocumentKind, feedId: string | null): ServedDocument {
    const byFeed = this.#documents.get(document) ?? new Map<string | null, ServedDocument>();
    this.#documents.set(document, byFeed);
    let served = byFeed.get(feedId);
    if (served === undefined) {
      if (byFeed.size >= MOST_DOCUMENTS)
        this.#forget(byFeed.values().reduce((oldest, each) => (each.usedAt < oldest.usedAt ? each : oldest)));
      served = new ServedDocument(this.id, document, feedId, this.#context);
      byFeed.set(feedId, served);
    }
    return served;
  }

  /** `time`: ms, monotonic. */
  prune(time: number): void {
    for (const served of this.#served()) if (served.usedAt < time) this.#forget(served);
    const used = new Set([...this.#served()].map(({ feedId }) => plainId(feedId)));
    for (const [name, { resolution }] of this.#names) {
      if (resolution.kind !== 'named' || !used.has(resolution.feedId)) this.#names.delete(name);
    }
  }

  async #resolve(ref: string | null, arrival: ReadStamp): Promise<Known | undefined> {
    if (!isFreshFor(this.#last, arrival) || this.#last.revision === undefined) {
      const answer = await this.#ask(this.#reading, ref, arrival, true);
      if (answer.known === undefined || (answer.ref === ref && answer.sequence > arrival.sequence)) return answer.known;
    }
    const known = this.#find(ref);
    if (known?.resolution.kind === 'named') {
      const read = this.#readOf(known);
      return isFreshFor(read, arrival) && this.#stands(known) ? { ...known, read } : this.#lookUp(ref, arrival);
    }
    // The list may be newer: only a read begun after the request may deny it.
    return this.#lookUp(ref, newest(arrival));
  }

  async #lookUp(ref: string | null, arrival: ReadStamp): Promise<Known | undefined> {
    const flight = this.#lookingUp.get(ref) ?? this.#context.singleFlight<Answer>();
    this.#lookingUp.set(ref, flight);
    try {
      return (await this.#ask(flight, ref, arrival, false)).known;
    } finally {
      if (flight.isIdle) this.#lookingUp.delete(ref);
    }
  }

  #ask(flight: SingleFlight<Answer>, ref: string | null, arrival: ReadStamp, afterLanding: boolean): Promise<Answer> {
    const timeout = this.#last.failed ? FAILING_STORE_TIMEOUT : STORE_TIMEOUT;
    return flight.join(arrival, (began) => this.#context.limited(this.#read(ref, began, afterLanding), timeout));
  }

  async #read(ref: string | null, { sequence }: ReadStamp, afterLanding: boolean): Promise<Answer> {
    const { store, clock, caughtUp } = this.#context.options;
    const keyRevision = this.#context.options.keyRevision();
    if (afterLanding && caughtUp !== undefined) await within(caughtUp(this.id), CAUGHT_UP_LIMIT, 'landing', clock).catch(() => undefined);
    const at = { ...this.#context.now(), sequence };
    // No list has an empty name: this reads only the workspace.
    const found = await store.findNamed(this.id, ref ?? '');
    const read = goodRead(found, { at, freshUntil: at.monotonic + this.#context.interval, keyRevision });
    // A late response must not replace that of a later read.
    if (afterLanding && sequence > this.#last.at.sequence) {
      this.#last = read;
      this.#own = found && { resolution: workspaceFeed(found), read };
    }
    if (found === undefined) {
      this.#names.clear();
      for (const served of this.#served()) this.#forget(served);
      return { ref, sequence, known: undefined };
    }
    const known: Known = { resolution: ref === null ? workspaceFeed(found) : resolutionOf(found), read };
    if (ref !== null) this.#remember(ref, known);
    return { ref, sequence, known };
  }

  /** Caches the name, and drops the deleted feed behind its previous meaning. */
  #remember(ref: string, known: Known): void {
    const { resolution, read } = known;
    const before = this.#find(ref);
    if (before !== undefined && before.read.at.sequence > read.at.sequence) return;
    if (before !== undefined) this.#names.delete(keyOf(ref, before.resolution));
    if (resolution.kind !== 'unknown_list') this.#names.set(keyOf(ref, resolution), known);
    else if (before?.resolution.kind === 'named') this.#forgetFeed(before.resolution.feedId);
  }

  #find(ref: string | null): Known | undefined {
    if (ref === null) return this.#own;
    if (ref.length !== UUID_LENGTH) return this.#names.get(ref);
    const id = ref.toLowerCase();
    const byId = this.#names.get(id);
    return byId?.resolution.kind === 'named' && byId.resolution.feedId === id ? byId : this.#names.get(ref);
  }

  #findById(ref: string | null): Known | undefined {
    if (ref?.length !== UUID_LENGTH) return undefined;
    const id = ref.toLowerCase();
    return this.#names.values().find(({ resolution }) => resolution.kind === 'named' && resolution.feedId === id);
  }

  /** The latest read confirming a known name: the workspace's, while its revision is unchanged. */
  #readOf({ read }: Known): WorkspaceRead {
    return this.#last.failed || read.revision === this.#last.revision ? this.#last : read;
  }

  /** Whether the feed cannot have been deleted since (SPEC D5.24), or the store cannot be asked. */
  #stands(known: Known): boolean {
    const { keyRevision } = this.#context.options;
    if (known.resolution.kind === 'named' && known.resolution.feedId === null) return true;
    return this.#last.failed || known.read.keyRevision === keyRevision() || this.#readOf(known).keyRevision === keyRevision();
  }

  *#served(): Generator<ServedDocument> {
    for (const byFeed of this.#documents.values()) yield* byFeed.values();
  }

  #forgetFeed(feedId: string | null): void {
    for (const served of this.#served()) if (plainId(served.feedId) === feedId) this.#forget(served);
  }

  #forget(served: ServedDocument): void {
    served.forget();
    this.#documents.get(served.document)?.delete(served.feedId);
  }
}

/** Only work begun after it is shared. */
const newest = (arrival: ReadStamp): ReadStamp => ({ ...arrival, monotonic: Number.POSITIVE_INFINITY });

function keyOf(ref: string, resolution: Resolution): string {
  const id = ref.toLowerCase();
  return resolution.kind === 'named' && resolution.feedId === id ? id : ref;
}
