/** What an operation works with: ports, and who asks for what. The command line and the HTTP layer each make one. */
import type { Author, Caller } from '../account/caller.ts';
import type { SecretKeys } from '../account/encrypted-secret.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { Permission } from '../account/permission.ts';
import type { FeedMeasurer } from '../feed/builder.ts';
import type { FeedWatch } from '../feed/monitor/feed-watch.ts';
import type { DocumentCache } from '../feed/serve/cache.ts';
import type { FeedDiffer } from '../feed/whatif/difference/difference.ts';
import type { ActivityReads } from '../ports/activity.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { ChangeOptions, OnceOnly, UsedBytes } from '../ports/stored/account-store.ts';
import type { Step } from '../ports/stored/rule-store.ts';
import type { fewAtOnce } from '../serial.ts';
import type { SourceTrier } from '../source/try-source.ts';
import type { SendPorts } from '../webhook/send.ts';
import type { AsyncOperations } from './async-operations.ts';
import type { Backtests } from './expressions/backtests.ts';
import type { ExpressionTester } from './expressions/expression-test.ts';
import type { WorkspaceFiles } from './file/file-port.ts';
import type { OverlapCounter } from './overlap.ts';
import type { RuleManagement } from './rules/rule-ports.ts';
import type { RuleSelections } from './rules/rule-selections.ts';
import type { Reach } from './sources/source-settings.ts';
import type { ProcessStatus } from './status.ts';

/** One kind of geo data in use, as `weir geo status` prints it. */
interface GeoKindStatus {
  /** Whole days since the date of the data. */
  readonly age_days: number;
  readonly [field: string]: unknown;
}

/** What the service knows of itself. */
export interface ServiceStatus {
  /** What the store and the stream are. */
  readonly engines: { readonly store: string; readonly stream: string };
  /** The processes on this DATA_DIR, this one first. */
  processes(): Promise<readonly ProcessStatus[]>;
  /** The geo data in use. */
  geo(): { readonly version: string; readonly country: GeoKindStatus; readonly asn: GeoKindStatus };
}

/** What operations ask of the service. What a process does not have is undefined. */
export interface ManagePorts extends RuleManagement {
  readonly store: StoreReads & StoreWrites;
  /** ms since 1970. */
  readonly now: () => number;
  /** Lists, feeds made of lists, and keys of a workspace; 0 = no limit. */
  readonly maxLists: number;
  readonly maxFeeds: number;
  readonly maxKeys: number;
  /** Sources of a workspace; 0 = no limit. */
  readonly maxSources: number;
  /** What secrets of sources are sealed with; none: they are refused. */
  readonly secretKeys: SecretKeys;
  /** Which addresses sources may be fetched from. */
  readonly sourceReach: Reach;
  /** Has this process look at once at what was asked of sources; undefined where it does not refresh them. */
  readonly refreshSources?: (() => void) | undefined;
  /** Which addresses webhooks may be sent to. */
  readonly webhookReach: Reach;
  /** Sends a message of a webhook. */
  readonly sendWebhook: SendPorts;
  /** Takes one test of the webhooks of a workspace: 0, or after how many seconds there may be another. */
  readonly takeWebhookTest: (workspaceId: string) => number;
  /** Tries sources. */
  readonly trySource: SourceTrier;
  /** Reads and applies the files of workspaces, elsewhere than on this thread. */
  readonly files: WorkspaceFiles;
  /** Tells what lists are worth. */
  readonly worth: OverlapCounter;
  /** Compares feeds with what they were. */
  readonly difference: FeedDiffer;
  /** Bytes that what is kept of a workspace may take; 0 = no limit. */
  readonly room: UsedBytes;
  /** What the service protects in every workspace. */
  readonly guardRails: GuardRails;
  readonly service: ServiceStatus;
  /** What is known of the feeds that this process has built; undefined where it builds none. */
  readonly feeds?: Pick<FeedWatch, 'of'> | undefined;
  /** Feeds as they are served, and how large others would be; undefined where this process builds none. */
  readonly documents?: Pick<DocumentCache, 'find' | 'body' | 'md5'> | undefined;
  readonly measurer?: FeedMeasurer | undefined;
  /** Tests expressions on requests, elsewhere than on this thread. */
  readonly testExpression: ExpressionTester;
  /** Runs backtests, elsewhere too. */
  readonly backtests: Backtests;
  /** Rules that were counted and sorted. */
  readonly selections: RuleSelections;
  /** Answers that take longer than a client waits. */
  readonly late: AsyncOperations;
  /** Does work that must not be done twice at once: of each name one piece after the other. */
  readonly inTurn: ReturnType<typeof fewAtOnce>;
  /** The longest wait of a request for its turn, ms; requests that may be late have no limit. */
  readonly patience: number;
  /** What happened lately. */
  readonly activity?: ActivityReads | undefined;
}

/** What a workspace may have of each; 0 = no limit. */
export type Most = Pick<ManagePorts, 'maxLists' | 'maxFeeds' | 'maxKeys' | 'maxSources'>;

/** What a function that changes something works with. */
export interface ChangeContext extends Pick<ManagePorts, 'store' | keyof Most> {
  readonly workspaceId: string;
  readonly by: Author;
  /** What the caller may do; null: everything (a command). */
  readonly permissions: readonly Permission[] | null;
  /** Until when he may, ms since 1970; null: for good. */
  readonly keyExpiresAt: number | null;
  /** The networks that the key is good from; none: from anywhere, as a command. */
  readonly keyNetworks: readonly string[];
  /** The states that the caller expects of what is changed; undefined: any. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when it is to be done once. */
  readonly once: OnceOnly | undefined;
}

/** One call of an operation. */
export interface ManageContext extends ManagePorts, ChangeContext {
  /** The key that asks. */
  readonly caller: Caller;
  /** Does a step of long work when its turn comes. Rejects where the client has gone before its answer. */
  readonly step: Step;
  /** Lets others get on. Rejects as `step` does. */
  pause(): Promise<void>;
  /** Whether nobody waits for the answer any more. */
  readonly isGone: () => boolean;
}

export const NO_LIMIT: Most = { maxLists: 0, maxFeeds: 0, maxKeys: 0, maxSources: 0 };

/** The context of a command: it may do everything. `by` is who runs it. */
export function byCommand(store: StoreReads & StoreWrites, workspaceId: string, by: Author, most: Most = NO_LIMIT): ChangeContext {
  const { maxLists, maxFeeds, maxKeys, maxSources } = most;
  const everything = { permissions: null, keyExpiresAt: null, keyNetworks: [], ifMatch: undefined, once: undefined };
  return { store, workspaceId, by, maxLists, maxFeeds, maxKeys, maxSources, ...everything };
}

/** How the store is told of a change. */
export const changeOptions = ({ by, ifMatch, once }: ChangeContext): ChangeOptions => ({ by, ifMatch, once });
