import { type Instant, within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { SingleFlight } from '../../schedule/single-flight.ts';
import type { DocumentKind, DocumentVariant } from '../document.ts';
import type { ReadStamp } from '../read-stamp.ts';
import { FAILING_STORE_TIMEOUT, type ServeContext, STORE_TIMEOUT } from './context.ts';
import { goodRead, isFreshFor, NEVER_READ, type WorkspaceRead } from './reads.ts';
import type { Representation, TooLarge } from './representation.ts';
import { type NamedFeed, type Resolution, resolutionOf, workspaceFeed } from './resolution.ts';
import { ServedDocument } from './served-document.ts';

/** How long a read of the workspace waits for landing to catch up, ms. */
const CAUGHT_UP_LIMIT = 2_000;
const UUID_LENGTH = 36;
/** Feeds, and documents of each other kind, that are remembered: more than a workspace may have lists (MAX_LISTS, unless that was raised). */
const MOST_DOCUMENTS = 12_000;

/** What a name stands for, and the read that says so. */
export interface Known {
  readonly resolution: Resolution;
  readonly read: WorkspaceRead;
}

/** What the store said when it was asked for a name; `known` is undefined when there is no such workspace. */
interface Answer {
  readonly ref: string | null;
  /** When it was asked for. */
  readonly sequence: number;
  readonly known: Known | undefined;
}

/**
 * One workspace on the main thread: the names, feeds and other documents that are asked for. The store is asked for one name at a time, whatever the
 * number of lists. While the workspace's revision stands still, one read confirms all names that are known. A name without a feed is
 * not remembered: a new list is found at once, and there is nothing that strangers could fill.
 */
export class ServedWorkspace {
  readonly id: string;
  readonly #context: ServeContext;
  /** By what is served, then by the UUID of the list or composed feed; null for the workspace's. */
  readonly #documents = new Map<DocumentKind, Map<string | null, ServedDocument>>();
  /** By name, or by UUID in lower case. */
  readonly #names = new Map<string, Known>();
  #own: Known | undefined;
  /** The last read that had waited for landing. */
  #last = NEVER_READ;
  readonly #reading: SingleFlight<Answer>;
  readonly #lookingUp = new Map<string | null, SingleFlight<Answer>>();

  constructor(id: string, context: ServeContext) {
    this.id = id;
    this.#context = context;
    this.#reading = context.singleFlight();
  }

  /** Whether none of its documents is remembered. */
  get isEmpty(): boolean {
    return this.#served().next().done === true;
  }

  /** The feeds that are remembered. */
  feeds(): Iterable<ServedDocument> {
    return this.#documents.get('feed')?.values() ?? [];
  }

  /** The feed behind a UUID or name (null: the workspace's), where no read is due at `monotonic` (ms). */
  recall(ref: string | null, monotonic: number): NamedFeed | undefined {
    if (monotonic >= this.#last.freshUntil) return undefined;
    const known = this.#find(ref);
    if (known?.resolution.kind !== 'named') return undefined;
    return monotonic < this.#readOf(known).freshUntil && this.#stands(known) ? known.resolution : undefined;
  }

  /** What can be served at once of a variant of a feed or another document, or undefined. */
  ready(feedId: string | null, variant: DocumentVariant, at: Instant): Representation | TooLarge | undefined {
    return this.#documents.get(variant.document)?.get(feedId)?.ready(variant, at);
  }

  /**
   * What a UUID or name (null: the workspace itself) stands for, fresh for the arrival; undefined when there is no such
   * workspace. While the store does not answer, what was known last; rejects with FEED_UNAVAILABLE when that is nothing.
   */
  async resolve(ref: string | null, arrival: ReadStamp): Promise<Known | undefined> {
    let cause: unknown;
    const { failed, revision, freshUntil } = this.#last;
    if (!failed || revision === undefined || arrival.monotonic >= freshUntil) {
      try {
        return await this.#resolve(ref, arrival);
      } catch (error) {
        cause = error;
        this.#last = { ...this.#last, freshUntil: this.#context.monotonic() + this.#context.pause, failed: true };
      }
    }
    const known = this.#find(ref) ?? this.#findById(ref);
    if (known === undefined) throw new WeirError('FEED_UNAVAILABLE', 'the store does not answer', { cause });
    return { ...known, read: this.#last };
  }

  /** The feed or another document of a list or a composed feed that is there, or the workspace's own (null). */
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

  /** Forgets the documents that were last asked for before `time` (ms, monotonic), and the names without a feed. */
  prune(time: number): void {
    for (const served of this.#served()) if (served.usedAt < time) this.#forget(served);
    const used = new Set([...this.#served()].map(({ feedId }) => feedId));
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
    // The list may be younger than what is known: only a read that began after the request can turn it away.
    return this.#lookUp(ref, { ...arrival, monotonic: Number.POSITIVE_INFINITY });
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
    // Nothing has an empty name: that asks for the workspace alone.
    const found = await store.findNamed(this.id, ref ?? '');
    const read = goodRead(found, { at, freshUntil: at.monotonic + this.#context.interval, keyRevision });
    // The answer to a read that timed out may come after that to a later read, and must not replace it.
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

  /** Keeps what a name stands for, and drops the feed that it stood for and that is gone. */
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

  /** What a UUID stands for that is known by a name only: while the store does not answer, nothing better is to be had. */
  #findById(ref: string | null): Known | undefined {
    if (ref?.length !== UUID_LENGTH) return undefined;
    const id = ref.toLowerCase();
    return this.#names.values().find(({ resolution }) => resolution.kind === 'named' && resolution.feedId === id);
  }

  /** The latest read in which a known name stands for the same: the workspace's, while its revision has not moved. */
  #readOf({ read }: Known): WorkspaceRead {
    return this.#last.failed || read.revision === this.#last.revision ? this.#last : read;
  }

  /** Whether its list or feed cannot have been deleted since a name was found (SPEC D5.24), or the store cannot be asked. */
  #stands(known: Known): boolean {
    const { keyRevision } = this.#context.options;
    if (known.resolution.kind === 'named' && known.resolution.feedId === null) return true;
    return this.#last.failed || known.read.keyRevision === keyRevision() || this.#readOf(known).keyRevision === keyRevision();
  }

  *#served(): Generator<ServedDocument> {
    for (const byFeed of this.#documents.values()) yield* byFeed.values();
  }

  #forgetFeed(feedId: string | null): void {
    for (const served of this.#served()) if (served.feedId === feedId) this.#forget(served);
  }

  #forget(served: ServedDocument): void {
    served.forget();
    this.#documents.get(served.document)?.delete(served.feedId);
  }
}

/** Where a name is kept: a UUID in lower case, so that its spellings are one; any other name as it is. */
function keyOf(ref: string, resolution: Resolution): string {
  const id = ref.toLowerCase();
  return resolution.kind === 'named' && resolution.feedId === id ? id : ref;
}
