/** Runs operations in the process of the command. */
import { blockGuards, warningsOf } from '../../account/guard-rails.ts';
import { PERMISSIONS } from '../../account/permission.ts';
import type { Workspace } from '../../account/workspace.ts';
import { systemClock } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { sourceReach } from '../../fetch/reach.ts';
import { isCountry } from '../../geo/iso3166.ts';
import { approvalGate } from '../../manage/approvals/gate.ts';
import { runOrWait } from '../../manage/approvals/settings.ts';
import type { ManageContext, ManagePorts } from '../../manage/context.ts';
import { ruleSelections } from '../../manage/rules/rule-selections.ts';
import { APPROVED } from '../../manage/table.ts';
import type { Store, StoreReads } from '../../ports/store.ts';
import { localUrlOf } from '../../runtime/address.ts';
import { servedSettings } from '../../runtime/served-settings.ts';
import type { Context } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { publish } from '../publish.ts';
import { localArchive } from './archive.ts';
import type { Send } from './client.ts';

const MEBIBYTE = 1024 * 1024;

export function localSend(context: Context, store: StoreReads, workspace: Workspace): Send {
  const base = manageContext(context, store, workspace);
  return async (operation, { params, query, body }, tag) => {
    const about: ManageContext = tag === undefined ? base : { ...base, ifMatch: [tag] };
    const value = await runOrWait(operation, about, { params, query: query as never, body: body as never, bytes: new Uint8Array() });
    const outcome = operation.show(value, about);
    return { body: JSON.parse(JSON.stringify(outcome.body)), tag: outcome.tag };
  };
}

const unavailable = (): never => {
  throw new WeirError('REFUSED', 'only a running service can do this: name one with --url');
};
/** A port of the server. */
const ABSENT = new Proxy({}, { get: unavailable }) as never;

/** Ports load large modules on first use. */
export function manageContext(context: Context, store: StoreReads, workspace: Workspace): ManageContext {
  const { config, author } = context;
  const { now } = systemClock;
  const guardOf = blockGuards(servedSettings(config).guardRails);
  const parts = async () => ({ ...(await (await import('../feed-parts.ts')).servedParts(context)), store });
  const step: ManageContext['step'] = (work) => work();
  const reach = {
    sourceReach: sourceReach(config.sourceNetworks, config.nat64Prefixes),
    webhookReach: sourceReach(config.webhookNetworks, config.nat64Prefixes),
  };
  const files = async () => {
    const { workspaceFiles } = await import('../../manage/file/files.ts');
    return workspaceFiles({ ...reach, store: store as Store, now, secretKeys: config.secretsKey, mostThings: 0 });
  };
  const ports: Omit<ManagePorts, 'store'> = {
    ...reach,
    now,
    maxLists: config.maxLists,
    maxFeeds: config.maxFeeds,
    maxKeys: config.maxKeys,
    maxSources: config.maxSources,
    secretKeys: config.secretsKey,
    sendWebhook: {
      ...systemClock,
      secretKeys: config.secretsKey,
      post: async (request) => (await import('../../runtime/webhooks/sending.ts')).sendPortsOf(config, systemClock).post(request),
    },
    takeWebhookTest: () => 0,
    trySource: async (job) => (await import('../sources/trial.ts')).trySource(context, store, job),
    files: { exported: async (of) => (await files()).exported(of), applied: async (...asked) => (await files()).applied(...asked) },
    overlap: {
      async lists(id, selected) {
        const { guard, ...rest } = await parts();
        const { overlapOf } = await import('../../feed/whatif/overlap/overlap.ts');
        return overlapOf(id, selected, { ...rest, guarded: guard(workspace).protected });
      },
      async detail(_, list) {
        const { guard, ...rest } = await parts();
        return (await import('../../feed/whatif/overlap/detail.ts')).detailOf(workspace, list, { ...rest, guard: guard(workspace) });
      },
    },
    async difference(id, asked) {
      if ('thawed' in asked) return (await import('../../feed/whatif/difference/thaw.ts')).thawDifference(id, asked, await parts());
      return (await import('../../feed/whatif/difference/difference.ts')).feedDifference(id, asked, await parts());
    },
    past: localArchive(context, store),
    freezer: async (id, feedId) => (await import('../../runtime/jobs/work/freeze.ts')).frozenContent(id, feedId, await parts()),
    measurer: {
      async measure(request) {
        const { geo, ...rest } = await parts();
        const { feedMeasurer } = await import('../../feed/whatif/measure.ts');
        return feedMeasurer({ ...rest, geo: () => geo, shares: async () => undefined }).measure(request);
      },
    },
    quota: { audit: config.maxAuditMb * MEBIBYTE, answers: 0 },
    guardRails: servedSettings(config).guardRails,
    testExpression: unavailable,
    backtests: ABSENT,
    service: ABSENT,
    gate: approvalGate({ store: store as Store, now }),
    approved: APPROVED,
    publish: async (messages) => publish(context, await context.stream(), messages, 'nothing has changed'),
    untilLanded: async () => untilLanded(context, await context.stream(), store),
    accept: unavailable,
    forecast: undefined,
    explainer: undefined,
    schemes: ABSENT,
    blockFaults: ({ guardRails }) => guardOf(guardRails).faults,
    blockWarnings: ({ guardRails }) => warningsOf(guardOf(guardRails)),
    isCountry,
    geo: unavailable,
    locate: unavailable,
    sleep: unavailable,
    stepsOf: () => step,
    turnOf: async () => undefined,
    asyncOperations: { inTime: (_, work) => work(), find: () => undefined },
    inTurn: (work) => work(),
    patience: Number.POSITIVE_INFINITY,
    selections: {
      async find(selecting, asked, conditions, order) {
        // An index counts the rules of a list.
        if (Object.keys(asked).join() !== 'list') return ruleSelections().find(selecting, asked, conditions, order);
        const total = await store.countListRules(workspace.id, conditions.listId!, Number.MAX_SAFE_INTEGER);
        return { total, isComplete: true, reasons: new Map(), ids: [], keys: [] };
      },
    },
  };
  return {
    ...ports,
    store: store as Store,
    workspaceId: workspace.id,
    by: author,
    // A command may do everything.
    permissions: null,
    keyExpiresAt: null,
    keyNetworks: [],
    ifMatch: undefined,
    once: undefined,
    caller: {
      // A command has no key.
      keyId: undefined as unknown as string,
      workspaceId: workspace.id,
      organizationId: workspace.organizationId,
      subscription: 'active',
      permissions: PERMISSIONS,
      listId: null,
      feedId: null,
      guardRails: workspace,
      sample: null,
      networks: [],
      expiresAt: null,
      ...(author.actor !== null && { actor: author.actor }),
    },
    step,
    pause: async () => {},
    isDisconnected: () => false,
    origin: config.baseUrl ?? localUrlOf(config.host, config.port, config.tlsCertFile === undefined ? 'http' : 'https'),
  };
}
