/** Builds on the feed thread: reads an outdated snapshot again, renews expiring rules from the store, renders the variant. */
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import { type Clock, instantOf, secondOf, timeUntil, turnOf, within } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { TrimState } from '../../ports/snapshot.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import { oneByOne } from '../../serial.ts';
import type { AddressMapper, AddressSpace, BuildRequest, BuildResult, BuildSource, DocumentBuilder } from '../builder.ts';
import { DECISIONS, type DecisionsVariant, DOCUMENTS, type DocumentKind, type DocumentVariant, revisionOf } from '../document.ts';
import type { FeedFacts } from '../facts.ts';
import { FeedRanges } from '../index/feed-ranges.ts';
import { type RenewalReads, renewDueRules } from '../index/renewal.ts';
import { completeSince, readSnapshot, type Snapshot } from '../index/snapshot.ts';
import { WorkspaceRules } from '../index/workspace-rules.ts';
import { DEFAULT_VARIANT } from '../variant.ts';
import { addressSpaceOf } from './address-space.ts';
import { exceptionsOf } from './content.ts';
import { render } from './render-document.ts';
import type { OverCap, RenderedDocument } from './render-feed.ts';
import type { PhaseOf } from './render-rules.ts';
import type { VersionedContents } from './versioned-content.ts';

export interface DocumentBuilderOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'follow' | 'ruleStates' | 'rulesById'>;
  readonly recordTrim?: StoreWrites['recordTrim'] | undefined;
  /** Contents served as deltas (the document `decisions`). */
  readonly versioned: VersionedContents;
  readonly geo: () => GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly phaseOf: PhaseOf;
  readonly clock: Clock;
}

const READ_LIMIT = 60_000;
const ASK_LIMIT = 2_000;
const MAPS = { running: 1, asked: { inAll: 256, ofWorkspace: 16 }, refusal: 'too many maps of feeds are being made' };

interface DocumentState {
  snapshot: Snapshot | undefined;
  readonly rules: WorkspaceRules;
  /** Per document. */
  readonly inTurn: ReturnType<typeof oneByOne>;
  /** The last map, its inputs, and the second until which it is right. */
  mapped: { readonly of: readonly unknown[]; readonly map: AddressSpace; readonly until: number } | undefined;
}

/** For other work of this thread: the feed's cached snapshot, read again if it is outdated. undefined: the feed does not exist. */
export interface SnapshotSource {
  withSnapshot<T>(workspaceId: string, feedId: string | null, use: (snapshot: Snapshot) => T): Promise<T | undefined>;
}

export function documentBuilder(options: DocumentBuilderOptions): DocumentBuilder & AddressMapper & SnapshotSource {
  const documents = new Map<string, DocumentState>();
  const workspaces = new Map<string, WorkspaceRules>();
  const rulesOf = (workspaceId: string): WorkspaceRules => {
    const rules = workspaces.get(workspaceId) ?? new WorkspaceRules(options.clock);
    workspaces.set(workspaceId, rules);
    return rules;
  };
  const stateOf = (workspaceId: string, document: DocumentKind, feedId: string | null): DocumentState => {
    const key = documentKey(workspaceId, document, feedId);
    const state = documents.get(key) ?? newDocument(rulesOf(workspaceId));
    documents.set(key, state);
    return state;
  };
  const line = fairQueue(MAPS);
  async function forget(workspaceId: string, document: DocumentKind, feedId: string | null): Promise<void> {
    const key = documentKey(workspaceId, document, feedId);
    const state = documents.get(key);
    documents.delete(key);
    if (state === undefined) return;
    await state.inTurn(async () => {});
    if (document === DECISIONS.document && !documents.has(key)) options.versioned.forget(workspaceId, feedId);
    state.rules.release(state.snapshot?.parts ?? []);
    if (state.rules.isIdle && workspaces.get(workspaceId) === state.rules) workspaces.delete(workspaceId);
  }

  return {
    async build(request) {
      const state = stateOf(request.workspaceId, request.variant.document, request.feedId);
      if (request.offline) return state.snapshot === undefined ? { kind: 'no_snapshot' } : buildFrom(state.snapshot, request, options);
      const built = await state.inTurn(() => buildDocument(state, request, options));
      if (request.variant.document === DECISIONS.document) {
        for (const { workspaceId, feedId } of options.versioned.trim(request.workspaceId)) {
          void forget(workspaceId, DECISIONS.document, feedId);
        }
      }
      return built;
    },
    addressSpace: ({ workspaceId, feedId, within: network, offline }) =>
      line(workspaceId, async () => {
        await turnOf(options.clock);
        const state = stateOf(workspaceId, 'feed', feedId);
        let took = 0;
        const found = await state.inTurn(async () => {
          const request = { workspaceId, feedId, variant: DEFAULT_VARIANT, sequence: 0 };
          const snapshot = offline ? state.snapshot : await currentSnapshot(state, request, options);
          if (snapshot === undefined) return undefined;
          const second = secondOf(options.clock.now());
          await renewDueRules(snapshot, second, second, renewalReads(workspaceId, snapshot, offline, options));
          const [geo, guarded] = [options.geo(), options.guard(snapshot.head.guardRails).protected];
          const of = [snapshot, state.rules.change, geo, guarded, network.address, network.prefix];
          const { mapped } = state;
          if (mapped?.of.every((each, i) => each === of[i]) && second < mapped.until) return mapped.map;
          const begun = options.clock.monotonic();
          const { map, nextExpiry } = addressSpaceOf(snapshot, network, second, geo, guarded);
          took = options.clock.monotonic() - begun;
          state.mapped = { of, map, until: nextExpiry };
          return map;
        });
        // Builds have at least half of the thread's time.
        await turnOf(options.clock, took);
        return found;
      }),
    async withSnapshot(workspaceId, feedId, use) {
      const state = stateOf(workspaceId, 'feed', feedId);
      return state.inTurn(async () => {
        const snapshot = await currentSnapshot(state, { workspaceId, feedId, variant: DEFAULT_VARIANT, sequence: 0 }, options);
        return snapshot && use(snapshot);
      });
    },
    forget,
  };
}

const newDocument = (rules: WorkspaceRules): DocumentState => ({
  snapshot: undefined,
  rules,
  inTurn: oneByOne(),
  mapped: undefined,
});
const documentKey = (workspaceId: string, document: DocumentKind, feedId: string | null) => `${workspaceId}/${document}/${feedId ?? ''}`;

async function buildDocument(state: DocumentState, request: BuildRequest, options: DocumentBuilderOptions): Promise<BuildResult> {
  const snapshot = await currentSnapshot(state, request, options);
  return snapshot === undefined ? { kind: 'deleted' } : buildFrom(snapshot, request, options);
}

type SnapshotRequest = Pick<BuildRequest, 'workspaceId' | 'feedId' | 'variant' | 'sequence'>;

/** The document's snapshot. Reads it again if it is older than the request or mixes two reads. */
async function currentSnapshot(
  state: DocumentState,
  request: SnapshotRequest,
  options: DocumentBuilderOptions,
): Promise<Snapshot | undefined> {
  const { store, clock } = options;
  const { snapshot } = state;
  const { workspaceId, feedId, variant } = request;
  const { document } = variant;
  const isShared = DOCUMENTS[document].kinds.length === 0;
  // If the clock was set back, an earlier read lacks rules not yet expired.
  const isOld = snapshot === undefined || snapshot.at.sequence < request.sequence || secondOf(clock.now()) < completeSince(snapshot);
  if (isOld || (isShared && isMixed(snapshot, state.rules))) {
    const sequence = Math.max(request.sequence, snapshot?.at.sequence ?? 0);
    const read = isShared
      ? sharedSnapshot(state, request, sequence, options)
      : within(readSnapshot(store, { workspaceId, feedId }, instantOf(clock), document, sequence), READ_LIMIT, 'the store', clock);
    state.snapshot = await read;
  }
  return state.snapshot;
}

/**
 * Whether another feed's read has advanced some lists of a snapshot with subtraction: a new broad block could be published before its
 * exception.
 */
const isMixed = (snapshot: Snapshot, rules: WorkspaceRules): boolean =>
  snapshot.head.frozenSince === undefined && exceptionsOf(snapshot) !== undefined && snapshot.head.change !== rules.change;

async function sharedSnapshot(
  { rules, snapshot }: DocumentState,
  { workspaceId, feedId }: SnapshotRequest,
  sequence: number,
  { store, clock }: DocumentBuilderOptions,
): Promise<Snapshot | undefined> {
  // Covers waiting for earlier reads.
  const deadline = clock.monotonic() + READ_LIMIT;
  const isNewFeed = snapshot === undefined;
  const found = await rules.read((now, known, sink) => {
    const read = store.follow(workspaceId, feedId, now.wall, { ...known, isNewFeed }, sink);
    return within(read, timeUntil(deadline, clock.monotonic()), 'the store', clock);
  }, snapshot?.parts ?? []);
  if (found === undefined) return undefined;
  const ranges = snapshot?.ranges ?? new FeedRanges();
  ranges.forgetUnused();
  return { head: found.head, parts: found.parts, at: { ...found.at, sequence }, stored: new Map(), ranges };
}

async function buildFrom(snapshot: Snapshot, request: BuildRequest, options: DocumentBuilderOptions): Promise<BuildResult> {
  const second = secondOf(options.clock.now());
  const geo = options.geo();
  const { variant } = request;
  const fits = new Map(snapshot.head.quorum?.fits);
  if (variant.document === 'decisions') {
    const built = await buildDecisions(snapshot, request, second, geo, options);
    await recordTrims(snapshot, request, fits, options);
    return built;
  }
  const rendered = await renderAt(second, snapshot, { ...request, variant }, geo, options);
  await recordTrims(snapshot, request, fits, options);
  const source = sourceOf(snapshot, variant, geo, second, rendered.facts);
  if (rendered.kind === 'too_large') return { kind: 'too_large', ...source, hint: rendered.hint };
  const { text, hash } = rendered;
  return { kind: 'document', ...source, hash, bytes: text.bytes, stampsAt: text.stampsAt, parts: text.parts };
}

/** Stores the feed's trim for other processes and restarts, before the trimmed feed is served. */
async function recordTrims(
  { head }: Snapshot,
  { workspaceId, feedId, offline }: BuildRequest,
  before: ReadonlyMap<string, TrimState>,
  { recordTrim, clock }: DocumentBuilderOptions,
): Promise<void> {
  const fits = head.quorum?.fits;
  if (fits === undefined || recordTrim === undefined || offline || feedId === null) return;
  const changed = [...new Set([...before.keys(), ...fits.keys()])].filter((key) => before.get(key) !== fits.get(key));
  for (const key of changed) {
    // On failure the next build derives the trim again from the last stored one.
    const recorded = recordTrim(workspaceId, feedId, key, fits.get(key) ?? null);
    await within(recorded, ASK_LIMIT, 'the store', clock).catch(() => undefined);
  }
}

function sourceOf(snapshot: Snapshot, { document }: DocumentVariant, geo: GeoDatabase, asOf: number, facts: FeedFacts): BuildSource {
  const { at, head } = snapshot;
  const { name, target } = head.profile;
  const read = { at, readAt: head.readAt, revision: revisionOf(document, head), completeSince: completeSince(snapshot) };
  return { name, target, ...read, geoVersion: geo.version, asOf, facts };
}

async function buildDecisions(
  snapshot: Snapshot,
  request: BuildRequest,
  second: number,
  geo: GeoDatabase,
  options: DocumentBuilderOptions,
): Promise<BuildResult> {
  const { workspaceId, feedId, offline } = request;
  const { versioned, guard, clock } = options;
  await renewDueRules(snapshot, second, second, renewalReads(workspaceId, snapshot, offline, options));
  const guarded = guard(snapshot.head.guardRails).protected;
  const { version, facts } = await versioned.of(workspaceId, feedId).publish(snapshot, { asOf: second, geo, guarded }, clock.now());
  const source = sourceOf(snapshot, request.variant, geo, second, facts);
  if (version === undefined) return { kind: 'too_large', ...source, hint: versioned.hint };
  return { kind: 'document', ...source, hash: version, bytes: new Uint8Array(), stampsAt: [], parts: undefined };
}

const renewalReads = (
  workspaceId: string,
  { head }: Snapshot,
  offline: boolean | undefined,
  { store, clock }: DocumentBuilderOptions,
): RenewalReads | undefined =>
  offline || head.frozenSince !== undefined
    ? undefined
    : {
        states: (ids) => within(store.ruleStates(workspaceId, ids), ASK_LIMIT, 'the store', clock),
        rules: (kind, ids) => within(store.rulesById(workspaceId, kind, ids), ASK_LIMIT, 'the store', clock),
      };

/** The content at `second`. If it must wait for a later second and a rule expires before it, the content at that second. */
async function renderAt(
  second: number,
  snapshot: Snapshot,
  request: BuildRequest & { readonly variant: Exclude<DocumentVariant, DecisionsVariant> },
  geo: GeoDatabase,
  options: DocumentBuilderOptions,
): Promise<RenderedDocument | OverCap> {
  const { workspaceId, variant, before, offline } = request;
  const { guard, phaseOf } = options;
  const ask = renewalReads(workspaceId, snapshot, offline, options);
  const renderAsOf = async (asOf: number) => {
    await renewDueRules(snapshot, asOf, second, ask);
    return render(snapshot, variant, { workspaceId, asOf, geo, guard: guard(snapshot.head.guardRails), phaseOf });
  };
  const rendered = await renderAsOf(second);
  if (rendered.kind === 'too_large' || before === undefined || before.hash === rendered.hash) return rendered;
  return before.until > second && rendered.facts.nextExpiry <= before.until ? renderAsOf(before.until) : rendered;
}
