/**
 * The work of the feed thread. A build reads the document's snapshot where that is too old (`snapshot.ts`), asks the store for the rules
 * that expire (`renewal.ts`) and renders the variant (`render-document.ts`).
 */
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import { type Clock, instantOf, secondOf, timeUntil, within } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { TrimState } from '../../ports/snapshot.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { oneByOne } from '../../serial.ts';
import type { BuildRequest, BuildResult, BuildSource, DocumentBuilder } from '../builder.ts';
import { DECISIONS, type DecisionsVariant, DOCUMENTS, type DocumentKind, type DocumentVariant, revisionOf } from '../document.ts';
import { FeedRanges } from '../index/feed-ranges.ts';
import { type RenewalReads, renewDueRules } from '../index/renewal.ts';
import { completeSince, readSnapshot, type Snapshot } from '../index/snapshot.ts';
import { WorkspaceRules } from '../index/workspace-rules.ts';
import { exceptionsOf } from './content.ts';
import { render } from './render-document.ts';
import type { OverCap, RenderedDocument } from './render-feed.ts';
import type { PhaseOf } from './render-rules.ts';
import type { VersionedContents } from './versioned-content.ts';

/** What builds are made with. */
export interface DocumentBuilderOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'follow' | 'ruleStates' | 'rulesById'>;
  /** undefined: what feeds leave out is noted nowhere. */
  readonly recordTrim?: StoreWrites['recordTrim'] | undefined;
  /** What is told in changes (the document `decisions`). */
  readonly versioned: VersionedContents;
  /** The geo data to use now; a reload makes it another. */
  readonly geo: () => GeoDatabase;
  /** The service's guard rails and a workspace's together. */
  readonly guard: (own: GuardRails) => BlockGuard;
  /** The phase of a WAF rule that does not say it, by its expression. */
  readonly phaseOf: PhaseOf;
  readonly clock: Clock;
}

/** How long the store may take to read a snapshot, and to answer the small questions beside it, ms. */
const READ_LIMIT = 60_000;
const ASK_LIMIT = 2_000;

/** What the feed thread holds of one document. */
interface DocumentState {
  snapshot: Snapshot | undefined;
  /** The rules of its workspace, of which those of its snapshot are a part. */
  readonly rules: WorkspaceRules;
  /** The builds of a document run one after the other. */
  readonly inTurn: ReturnType<typeof oneByOne>;
}

/** Holds the snapshots of documents in the calling thread, and builds variants from them. */
export function documentBuilder(options: DocumentBuilderOptions): DocumentBuilder {
  const documents = new Map<string, DocumentState>();
  const workspaces = new Map<string, WorkspaceRules>();
  const rulesOf = (workspaceId: string): WorkspaceRules => {
    const rules = workspaces.get(workspaceId) ?? new WorkspaceRules(options.clock);
    workspaces.set(workspaceId, rules);
    return rules;
  };
  async function forget(workspaceId: string, document: DocumentKind, feedId: string | null): Promise<void> {
    const key = documentKey(workspaceId, document, feedId);
    const state = documents.get(key);
    documents.delete(key);
    if (state === undefined) return;
    // A build that is under way would give it a snapshot again.
    await state.inTurn(async () => {});
    if (document === DECISIONS.document && !documents.has(key)) options.versioned.forget(workspaceId, feedId);
    state.rules.release(state.snapshot?.parts ?? []);
    if (state.rules.isIdle && workspaces.get(workspaceId) === state.rules) workspaces.delete(workspaceId);
  }

  return {
    async build(request) {
      const key = documentKey(request.workspaceId, request.variant.document, request.feedId);
      const state = documents.get(key) ?? newDocument(rulesOf(request.workspaceId));
      documents.set(key, state);
      if (request.offline) return state.snapshot === undefined ? { kind: 'no_snapshot' } : buildFrom(state.snapshot, request, options);
      const built = await state.inTurn(() => buildDocument(state, request, options));
      if (request.variant.document === DECISIONS.document) {
        for (const { workspaceId, feedId } of options.versioned.trim(request.workspaceId)) {
          void forget(workspaceId, DECISIONS.document, feedId);
        }
      }
      return built;
    },
    forget,
  };
}

const newDocument = (rules: WorkspaceRules): DocumentState => ({
  snapshot: undefined,
  rules,
  inTurn: oneByOne(),
});
const documentKey = (workspaceId: string, document: DocumentKind, feedId: string | null) => `${workspaceId}/${document}/${feedId ?? ''}`;

/** Builds from the document's snapshot, which is read first where it is older than what asks for it, or not of one moment any more. */
async function buildDocument(state: DocumentState, request: BuildRequest, options: DocumentBuilderOptions): Promise<BuildResult> {
  const { store, clock } = options;
  const { snapshot } = state;
  const { workspaceId, feedId, variant } = request;
  const { document } = variant;
  const isShared = DOCUMENTS[document].kinds.length === 0;
  // A snapshot that was read before the clock was set back lacks rules that have not expired now.
  const isOld = snapshot === undefined || snapshot.at.sequence < request.sequence || secondOf(clock.now()) < completeSince(snapshot);
  if (isOld || (isShared && isMixed(snapshot, state.rules))) {
    const sequence = Math.max(request.sequence, snapshot?.at.sequence ?? 0);
    const read = isShared
      ? sharedSnapshot(state, request, sequence, options)
      : within(readSnapshot(store, { workspaceId, feedId }, instantOf(clock), document, sequence), READ_LIMIT, 'the store', clock);
    state.snapshot = await read;
  }
  return state.snapshot === undefined ? { kind: 'gone' } : buildFrom(state.snapshot, request, options);
}

/**
 * Whether the lists of a snapshot that cuts never-block rules out were moved on by the read of another feed: never-block rules of other
 * lists, and which lists there are, were not. A rule that blocks more than it should would come before the one that was made to stop it.
 */
const isMixed = (snapshot: Snapshot, rules: WorkspaceRules): boolean =>
  exceptionsOf(snapshot) !== undefined && snapshot.head.change !== rules.change;

/** A snapshot whose lists are shared with the other feeds of the workspace. */
async function sharedSnapshot(
  { rules, snapshot }: DocumentState,
  { workspaceId, feedId }: BuildRequest,
  sequence: number,
  { store, clock }: DocumentBuilderOptions,
): Promise<Snapshot | undefined> {
  // Reads wait for each other.
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
  const source = sourceOf(snapshot, request, { geoVersion: geo.version, asOf: second, completeSince: completeSince(snapshot) }, rendered);
  if (rendered.kind === 'too_large') return { kind: 'too_large', ...source, hint: rendered.hint };
  const { text, hash } = rendered;
  return { kind: 'document', ...source, hash, bytes: text.bytes, stampsAt: text.stampsAt, parts: text.parts };
}

/** Notes for other processes, and the next start, what a feed leaves out from now on: before anybody is served without it. */
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
    // Where it cannot be noted, what is left out is found anew from what was noted last.
    const noted = recordTrim(workspaceId, feedId, key, fits.get(key) ?? null);
    await within(noted, ASK_LIMIT, 'the store', clock).catch(() => undefined);
  }
}

/** What a build is made from, and how many entries it has. */
function sourceOf(
  { at, head }: Snapshot,
  { variant }: BuildRequest,
  made: Pick<BuildSource, 'geoVersion' | 'asOf' | 'completeSince'>,
  { entryCount, v4Count, entryLimit, nextExpiry, fitted }: Omit<RenderedDocument, 'kind' | 'text' | 'hash'>,
) {
  const { readAt, profile } = head;
  const revision = revisionOf(variant.document, head);
  const { name, target } = profile;
  return { revision, name, target, at, readAt, ...made, entryCount, v4Count, entryLimit, nextExpiry, fitted };
}

/** The decisions of a feed: a content without bytes, whose bodies are made for each bouncer. */
async function buildDecisions(
  snapshot: Snapshot,
  request: BuildRequest,
  second: number,
  geo: GeoDatabase,
  options: DocumentBuilderOptions,
): Promise<BuildResult> {
  const { workspaceId, feedId, offline } = request;
  const { versioned, guard, clock } = options;
  await renewDueRules(snapshot, second, second, offline ? undefined : renewalReads(workspaceId, options));
  const guarded = guard(snapshot.head.guardRails).protected;
  const { version, ...counted } = await versioned.of(workspaceId, feedId).take(snapshot, { asOf: second, geo, guarded }, clock.now());
  const source = sourceOf(snapshot, request, { geoVersion: geo.version, asOf: second, completeSince: completeSince(snapshot) }, counted);
  if (version === undefined) return { kind: 'too_large', ...source, hint: versioned.hint };
  return { kind: 'document', ...source, hash: version, bytes: new Uint8Array(), stampsAt: [], parts: undefined };
}

const renewalReads = (workspaceId: string, { store, clock }: DocumentBuilderOptions): RenewalReads => ({
  states: (ids) => within(store.ruleStates(workspaceId, ids), ASK_LIMIT, 'the store', clock),
  rules: (kind, ids) => within(store.rulesById(workspaceId, kind, ids), ASK_LIMIT, 'the store', clock),
});

/**
 * The content at `second`; where other content is served until a later second, and a rule expires until then, the content at that one:
 * what waits must hold no rule that has expired when it begins.
 */
async function renderAt(
  second: number,
  snapshot: Snapshot,
  request: BuildRequest & { readonly variant: Exclude<DocumentVariant, DecisionsVariant> },
  geo: GeoDatabase,
  options: DocumentBuilderOptions,
): Promise<RenderedDocument | OverCap> {
  const { workspaceId, variant, before, offline } = request;
  const { guard, phaseOf } = options;
  const ask = renewalReads(workspaceId, options);
  const renderAsOf = async (asOf: number) => {
    await renewDueRules(snapshot, asOf, second, offline ? undefined : ask);
    return render(snapshot, variant, { workspaceId, asOf, geo, guarded: guard(snapshot.head.guardRails).protected, phaseOf });
  };
  const rendered = await renderAsOf(second);
  if (rendered.kind === 'too_large' || before === undefined || before.hash === rendered.hash) return rendered;
  return before.until > second && rendered.nextExpiry <= before.until ? renderAsOf(before.until) : rendered;
}
