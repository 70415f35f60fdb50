import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { blockGuards, warningsOf } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import { emptyFolder } from '../fetch/content-file.ts';
import { sourceReach } from '../fetch/reach.ts';
import { isCountry } from '../geo/iso3166.ts';
import { locate } from '../geo/locate.ts';
import { geoStatus } from '../geo/status.ts';
import { rateLimiter } from '../http/auth/rate-limit.ts';
import { errorFields } from '../http/errors.ts';
import { asyncOperations } from '../manage/async-operations.ts';
import type { ManagePorts } from '../manage/context.ts';
import { ruleSelections } from '../manage/rules/rule-selections.ts';
import type { ProcessStatus } from '../manage/status.ts';
import { APPROVED } from '../manage/table.ts';
import { archiveReader } from '../runtime/jobs/archive.ts';
import { backtestJobs } from '../runtime/jobs/backtest-jobs.ts';
import { expressionTester, feedDiffer, feedFreezer, fileThread } from '../runtime/jobs/calls.ts';
import { overlapCounter } from '../runtime/jobs/overlap.ts';
import { sourceTrier } from '../runtime/jobs/source-try.ts';
import { processesOn } from '../runtime/ledgers/status-file.ts';
import { type PoliteFetching, politeFetching } from '../runtime/sources/fetching.ts';
import { removeTrialFolders } from '../runtime/sources/trial-folder.ts';
import { recallAll } from '../runtime/sources/visits.ts';
import { sendPortsOf } from '../runtime/webhooks/sending.ts';
import { fairSteps } from '../schedule/fair-steps.ts';
import { fewAtOnce } from '../serial.ts';
import type { Config } from '../settings/settings.ts';
import { archiveSettings } from './archive.ts';
import type { Base } from './base.ts';
import type { Feeds } from './feeds.ts';
import { recoverReplacements } from './recovery.ts';
import type { Signals } from './signals.ts';
import type { Sources } from './sources.ts';
import type { Seen } from './usage.ts';

const MEBIBYTE = 1024 * 1024;
/** Webhook tests per workspace and minute. */
const WEBHOOK_TESTS = 10;

/** SPEC D15; undefined without the role. `ownStatus`: status of this process. */
export function startManage(
  { config, engine, store, stream, untilLanded, geo, guardRails, schemes, feedThread, log, onStop }: Base,
  { activity, watch }: Pick<Seen, 'activity' | 'watch'>,
  { cache, forecast }: Feeds,
  { accept, gate }: Signals,
  ownStatus: () => Promise<ProcessStatus>,
  sources: Sources | undefined,
): ManagePorts | undefined {
  if (accept === undefined || gate === undefined || !config.roles.includes('manage')) return undefined;
  const { now } = systemClock;
  const guardOf = blockGuards(guardRails);
  const [steps, beginnings] = [fairSteps(), fairSteps()];
  const tests = rateLimiter(WEBHOOK_TESTS);
  const fetching = sources?.fetching ?? ownFetching(config);
  removeTrialFolders();
  const files = fileThread(() => engine.feedSource(), fileSettings(config));
  onStop(() => files.close());
  const reading = { guardRails, geo: () => geo.data(), settings: { databaseUrl: config.databaseUrl, dataDir: config.dataDir } };
  const ports: ManagePorts = {
    store,
    now,
    maxLists: config.maxLists,
    maxFeeds: config.maxFeeds,
    maxKeys: config.maxKeys,
    maxSources: config.maxSources,
    secretKeys: config.secretsKey,
    refreshSources: sources && (() => void sources.tick(true)),
    sourceReach: sourceReach(config.sourceNetworks, config.nat64Prefixes),
    webhookReach: sourceReach(config.webhookNetworks, config.nat64Prefixes),
    sendWebhook: sendPortsOf(config, systemClock),
    takeWebhookTest: (workspaceId) => tests.take(workspaceId, systemClock.monotonic()),
    trySource: sourceTrier({
      ...{ settings: trySettings(config), guardRails, fetching, geo: () => geo.data() },
      async recall() {
        // A process without sources does not refresh this on its own.
        if ((sources?.known.size ?? 0) === 0) await recallAll(fetching.visits.politeness, store, systemClock);
      },
    }),
    files,
    overlap: overlapCounter({ store, ...reading }),
    difference: feedDiffer(reading),
    past:
      config.archiveDir === undefined
        ? undefined
        : archiveReader({ settings: reading.settings, dir: config.archiveDir, service: () => archiveSettings({ guardRails, geo }) }),
    freezer: feedFreezer(reading),
    quota: { audit: config.maxAuditMb * MEBIBYTE, answers: config.maxAnswersMb * MEBIBYTE },
    guardRails,
    feeds: feedThread && watch,
    documents: cache,
    measurer: feedThread,
    addressMap: feedThread,
    testExpression: expressionTester(config.schemesFile),
    backtests: backtestJobs({
      schemesFile: config.schemesFile,
      geo: () => ({ country: geo.data().country.table, asn: geo.data().asn.table }),
      now,
      report: (error) => log('error', `a backtest failed: ${error}`),
    }),
    activity,
    service: {
      engines: enginesOf(config),
      processes: processesOn(config.dataDir, ownStatus),
      geo: () => geoStatus(geo.data(), now()),
    },
    publish: (messages) => stream.publish(messages),
    gate,
    approved: APPROVED,
    untilLanded,
    accept,
    forecast,
    explainer: feedThread,
    schemes,
    blockFaults: (caller) => guardOf(caller.guardRails).faults,
    blockWarnings: (caller) => warningsOf(guardOf(caller.guardRails)),
    isCountry,
    geo: () => geo.database(),
    locate: (target) => locate(geo.data(), target),
    sleep: (seconds) => sleep(seconds * 1000),
    stepsOf: (workspaceId) => (work) => steps(workspaceId, work),
    turnOf: (workspaceId) => beginnings(workspaceId, async () => undefined),
    asyncOperations: asyncOperations({
      patience: config.manageAnswerSeconds * 1000,
      now,
      failed: (error) => {
        log('error', `a management request failed: ${error}`);
        return { status: 500, body: errorFields({ status: 500 }) };
      },
    }),
    inTurn: fewAtOnce(1),
    // Half the time before a 202: the work itself takes time too.
    patience: config.manageAnswerSeconds * 500,
    selections: ruleSelections(),
  };
  const pause = () => ports.stepsOf('')(async () => undefined);
  const idle = { pause, step: ports.stepsOf(''), isDisconnected: () => false, origin: undefined };
  onStop(
    recoverReplacements({ ...ports, pause }, log, (workspaceId, each, content) =>
      APPROVED.run(each.operation, { ...ports, ...idle, workspaceId }, each.id, content),
    ),
  );
  return ports;
}

/** For trials in a process that refreshes no sources, with a folder of its own. */
function ownFetching(config: Config): PoliteFetching {
  const folder = join(config.dataDir, 'tried');
  emptyFolder(folder, systemClock.now());
  return politeFetching(config, folder, systemClock);
}

const trySettings = ({ databaseUrl, dataDir, ...config }: Config) => ({
  ...{ databaseUrl, dataDir },
  ...{
    sourceNetworks: config.sourceNetworks,
    nat64Prefixes: config.nat64Prefixes,
    sourceProxy: config.sourceProxy,
    noProxy: config.noProxy,
  },
  ...{ sourceCaFile: config.sourceCaFile, sourceContact: config.sourceContact, baseUrl: config.baseUrl },
  ...{ sourceMaxMb: config.sourceMaxMb, sourceSeconds: config.sourceSeconds },
});

const fileSettings = ({ secretsKey, sourceNetworks, webhookNetworks, nat64Prefixes }: Config) => ({
  ...{ secretsKey, sourceNetworks, webhookNetworks, nat64Prefixes },
});

const enginesOf = ({ databaseUrl, kafkaBrokers }: Config) => ({
  store: databaseUrl === undefined ? 'embedded' : 'PostgreSQL',
  stream: kafkaBrokers === undefined ? 'embedded' : 'Kafka',
});
