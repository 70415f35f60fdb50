/** Reads snapshots, expands geo targets, merges and renders, off the main thread. */
import { parentPort } from 'node:worker_threads';
import { blockGuards } from '../../account/guard-rails.ts';
import { instantOf, systemClock } from '../../clock.ts';
import { decisionBuilder } from '../../decisions/build/decision-builder.ts';
import type { DroppedDecisions } from '../../decisions/decisions.ts';
import { WeirError } from '../../errors.ts';
import { documentBuilder } from '../../feed/build/document-builder.ts';
import { shareCounter } from '../../feed/build/share-counter.ts';
import type { FeedPreviewer } from '../../feed/builder.ts';
import { EXPLAIN_LONGEST, explainOneAtATime } from '../../feed/whatif/explain/one-at-a-time.ts';
import { feedMeasurer } from '../../feed/whatif/measure.ts';
import { geoDatabase } from '../../geo/database.ts';
import { phaseDetector } from '../phases.ts';
import { clockBeside } from '../store-clock.ts';
import type { FeedNews, FeedThreadData, FeedThreadMethods } from './feeds.ts';
import { serveCalls, shutdownBy } from './rpc.ts';
import { openThreadStore } from './thread-store.ts';
import { beginning } from './waiting-thread.ts';

/** PostgreSQL connections. */
const CONNECTIONS = { reads: 3, changes: 1 };

const { source, geo, rules } = await beginning<FeedThreadData>();
const port = parentPort!;
const store = await openThreadStore(source, CONNECTIONS);
let database = geoDatabase(geo);

const clock = rules.clock === undefined ? systemClock : clockBeside(rules.clock);
const shared = { store, geo: () => database, guard: blockGuards(rules.guardRails), clock };
const counter = shareCounter(shared);
const onDropped = (dropped: DroppedDecisions) => port.postMessage({ dropped } satisfies FeedNews);
const { decisions, contents } = decisionBuilder({ ...shared, recordLog: store.recordLog, onDropped });
const builder = documentBuilder({
  ...shared,
  recordTrim: store.recordTrim,
  versioned: contents,
  phaseOf: phaseDetector(rules.schemesFile),
});
// Lazy: loads much code for messages.
let previewer: Promise<FeedPreviewer> | undefined;
const explaining = async () => {
  const { EXPLAIN_RULES: mostRules } = await import('../../feed/whatif/explain/explain.ts');
  return { store, geo: database, guard: shared.guard, now: instantOf(clock), cached: builder, mostRules, pause: pauses() };
};
/** Time slice of an explanation, ms. */
const EXPLAIN_TURN = 5;
function pauses(): () => Promise<void> | undefined {
  const begun = performance.now();
  let last = begun;
  return () => {
    const at = performance.now();
    if (at - begun > EXPLAIN_LONGEST) throw new WeirError('REFUSED', 'this takes too long: ask about one feed, or an address');
    if (at - last < EXPLAIN_TURN) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        last = performance.now();
        resolve();
      }),
    );
  };
}
const inTurn = explainOneAtATime(() => performance.now());
const methods: FeedThreadMethods = {
  ...builder,
  decisions,
  async preview(request) {
    previewer ??= import('../../feed/whatif/preview.ts').then(({ feedPreviewer }) => feedPreviewer(shared));
    return (await previewer).preview(request);
  },
  async explain(asked) {
    const { MOST_EXPLAINED, EXPLAIN_UNTOUCHED, explain } = await import('../../feed/whatif/explain/explain.ts');
    const most = { mostReturned: MOST_EXPLAINED, mostUntouched: EXPLAIN_UNTOUCHED };
    return inTurn(asked.workspace.id, async () => explain(asked, { ...(await explaining()), ...most }));
  },
  async remainingBlocks(asked) {
    const { remainingBlocks } = await import('../../feed/whatif/explain/remaining-blocks.ts');
    return inTurn(asked.workspace.id, async () => remainingBlocks(asked, await explaining()));
  },
  ...feedMeasurer({ ...shared, ...counter }),
  ...counter,
  async useGeo(data) {
    database = geoDatabase(data);
  },
  async ping() {},
  shutdown: shutdownBy(port, store.close),
};
const body = (value: unknown) => (value as { bytes?: Uint8Array<ArrayBuffer> } | undefined)?.bytes;
serveCalls(port, methods, (value) => [body(value)?.buffer ?? []].flat());
