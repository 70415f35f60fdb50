/** The role `manage`: what operations of management work with. */

import { setTimeout as sleep } from 'node:timers/promises';
import { blockGuards } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { DocumentCache } from '../document/serve/cache.ts';
import type { FeedWatch } from '../document/watch/feed-watch.ts';
import { geoStatus } from '../geo/status.ts';
import type { Activity } from '../http/activity.ts';
import type { ManagePorts } from '../manage/context.ts';
import { resumeReplacements } from '../manage/replacements.ts';
import type { ProcessStatus } from '../manage/status.ts';
import type { Log } from '../ports/log.ts';
import { backtestJobs } from '../runtime/backtests/jobs.ts';
import type { Engine } from '../runtime/engines.ts';
import { expressionTester } from '../runtime/expression-test.ts';
import { fairSteps } from '../runtime/fair-steps.ts';
import type { FeedThread } from '../runtime/feeds.ts';
import type { GeoInUse } from '../runtime/geo.ts';
import { processesOn } from '../runtime/status-file.ts';
import { oneByOne } from '../serial.ts';
import type { Accept } from '../signal/accept.ts';
import { caughtUp } from '../stream/lag.ts';
import type { SignalJudges } from './signals.ts';

const MEBIBYTE = 1024 * 1024;

/** What of the process management is told of; what it does not have is undefined. */
interface ManageParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly accept: Accept;
  readonly judges: Pick<SignalJudges, 'schemes' | 'guardRails' | 'forecast'>;
  readonly activity: Activity | undefined;
  readonly watch: FeedWatch;
  readonly cache: DocumentCache | undefined;
  readonly feedThread: FeedThread | undefined;
  readonly geo: GeoInUse;
  readonly ownStatus: () => Promise<ProcessStatus>;
  /** Is told of backtests that fail by a fault of ours. */
  readonly report: (error: unknown) => void;
}

/** The ports of management (SPEC D15). */
export function managePorts(parts: ManageParts): ManagePorts {
  const { config, engine, accept, judges, activity, watch, cache, feedThread, geo, ownStatus, report } = parts;
  const { store, stream } = engine;
  const { now } = systemClock;
  const guardOf = blockGuards(judges.guardRails);
  const steps = fairSteps();
  return {
    store,
    now,
    maxLists: config.maxLists,
    maxFeeds: config.maxFeeds,
    maxKeys: config.maxKeys,
    room: { audit: config.maxAuditMb * MEBIBYTE, answers: config.maxAnswersMb * MEBIBYTE },
    guardRails: judges.guardRails,
    feeds: feedThread && watch,
    documents: cache,
    measurer: feedThread,
    testExpression: expressionTester(config.schemesFile),
    backtests: backtestJobs({
      schemesFile: config.schemesFile,
      geo: () => ({ country: geo.data().country.table, asn: geo.data().asn.table }),
      now,
      report,
    }),
    activity,
    service: {
      engines: enginesOf(config),
      processes: processesOn(config.dataDir, ownStatus),
      geo: () => geoStatus(geo.data(), now()),
    },
    publish: (messages) => stream.publish(messages),
    untilLanded: () => caughtUp(stream, store),
    accept,
    forecast: judges.forecast,
    explainer: feedThread,
    schemes: judges.schemes,
    blockFaults: (caller) => guardOf(caller.guardRails).faults,
    geo: () => geo.database(),
    sleep: (seconds) => sleep(seconds * 1000),
    stepsOf: (workspaceId) => (work) => steps(workspaceId, work),
    inTurn: oneByOne(),
  };
}

/** What the engines are, as people call them. */
const enginesOf = ({ databaseUrl, kafkaBrokers }: Config) => ({
  store: databaseUrl === undefined ? 'embedded' : 'PostgreSQL',
  stream: kafkaBrokers === undefined ? 'embedded' : 'Kafka',
});

/** How often what processes have left behind that ended is looked for, ms. */
const LOOK = 5000;

/** Goes on with lists that were being replaced when a process ended. Returns what ends this. */
export function resumeLeftBehind(ports: ManagePorts, log: Log): () => Promise<void> {
  let going: Promise<void> = Promise.resolve();
  let isOver = false;
  const pause = () => ports.stepsOf('')(async () => undefined);
  const look = () => {
    going = going.then(async () => {
      if (!isOver)
        await resumeReplacements({ ...ports, pause }).catch((error: unknown) => log('warn', `a list could not be replaced yet: ${error}`));
    });
  };
  look();
  const timer = setInterval(look, LOOK).unref();
  return async () => {
    isOver = true;
    clearInterval(timer);
    await going;
  };
}
