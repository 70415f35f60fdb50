/** The CLI and the HTTP layer each make one. */
import type { Author, Caller } from '../account/caller.ts';
import type { GuardRails } from '../account/guard-rails.ts';
import type { Permission } from '../account/permission.ts';
import type { SecretKeys } from '../account/secrets/encrypted-secret.ts';
import type { AddressMapper, FeedMeasurer } from '../feed/builder.ts';
import type { FeedWatch } from '../feed/monitor/feed-watch.ts';
import type { DocumentCache } from '../feed/serve/cache.ts';
import type { FeedDiffer } from '../feed/whatif/difference/difference.ts';
import type { ActivityReads } from '../ports/activity.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { ChangeOptions, OnceOnly, UsedBytes } from '../ports/stored/account-store.ts';
import type { FeedFreezer } from '../ports/stored/freeze-store.ts';
import type { Step } from '../ports/stored/rule-store.ts';
import type { fewAtOnce } from '../serial.ts';
import type { SourceTrier } from '../source/try-source.ts';
import type { SendPorts } from '../webhook/send.ts';
import type { Excess } from './approvals/size.ts';
import type { AsyncOperations } from './async-operations.ts';
import type { Backtests } from './expressions/backtests.ts';
import type { ExpressionTester } from './expressions/expression-test.ts';
import type { WorkspaceFiles } from './file/file-port.ts';
import type { PastReader } from './lookup/past.ts';
import type { OverlapCounter } from './overlap.ts';
import type { RuleManagement } from './rules/rule-ports.ts';
import type { RuleSelections } from './rules/rule-selections.ts';
import type { Reach } from './sources/source-settings.ts';
import type { ProcessStatus } from './status.ts';

/** As `weir geo status` prints it. */
interface GeoKindStatus {
  /** Whole days. */
  readonly age_days: number;
  readonly [field: string]: unknown;
}

export interface ServiceStatus {
  readonly engines: { readonly store: string; readonly stream: string };
  /** This process first. */
  processes(): Promise<readonly ProcessStatus[]>;
  geo(): { readonly version: string; readonly country: GeoKindStatus; readonly asn: GeoKindStatus };
}

/** Of the caller. */
export type Requester = Pick<ManageContext, 'caller' | 'by' | 'permissions' | 'keyExpiresAt' | 'keyNetworks' | 'ifMatch'>;

export interface ApprovedRunner {
  run(name: string, context: Omit<ManageContext, keyof Requester | 'once'>, id: string, content: Uint8Array): Promise<void>;
  excess(name: string, context: ManageContext, content: Uint8Array): Promise<Excess | undefined>;
}

/** undefined: not available in this process. */
export interface ManagePorts extends RuleManagement {
  readonly store: StoreReads & StoreWrites;
  /** ms since 1970. */
  readonly now: () => number;
  /** Limits per workspace; 0 = no limit. */
  readonly maxLists: number;
  readonly maxFeeds: number;
  readonly maxKeys: number;
  readonly maxSources: number;
  /** Empty: secrets are refused. */
  readonly secretKeys: SecretKeys;
  readonly sourceReach: Reach;
  /** Checks for requested refreshes now; undefined if this process refreshes none. */
  readonly refreshSources?: (() => void) | undefined;
  readonly webhookReach: Reach;
  readonly sendWebhook: SendPorts;
  /** 0, or the seconds until the next test is allowed. */
  readonly takeWebhookTest: (workspaceId: string) => number;
  readonly trySource: SourceTrier;
  readonly files: WorkspaceFiles;
  readonly overlap: OverlapCounter;
  readonly difference: FeedDiffer;
  /** undefined: no ARCHIVE_DIR. */
  readonly past?: PastReader | undefined;
  readonly freezer: FeedFreezer;
  /** Bytes; 0 = no limit. */
  readonly quota: UsedBytes;
  readonly guardRails: GuardRails;
  readonly service: ServiceStatus;
  /** undefined if this process builds no feeds. */
  readonly feeds?: Pick<FeedWatch, 'of'> | undefined;
  /** undefined if this process builds no feeds. */
  readonly documents?: Pick<DocumentCache, 'find' | 'body' | 'digest'> | undefined;
  readonly measurer?: FeedMeasurer | undefined;
  readonly addressMap?: AddressMapper | undefined;
  readonly testExpression: ExpressionTester;
  readonly backtests: Backtests;
  readonly selections: RuleSelections;
  readonly asyncOperations: AsyncOperations;
  /** Serializes work of the same name. */
  readonly inTurn: ReturnType<typeof fewAtOnce>;
  /** The longest wait for a turn, ms; none for long operations. */
  readonly patience: number;
  readonly activity?: ActivityReads | undefined;
  /** Runs an approved operation as its requester; its effect now (SPEC D67.6). */
  readonly approved: ApprovedRunner;
}

export type Most = Pick<ManagePorts, 'maxLists' | 'maxFeeds' | 'maxKeys' | 'maxSources'>;

export interface ChangeContext extends Pick<ManagePorts, 'store' | keyof Most> {
  readonly workspaceId: string;
  readonly by: Author;
  /** null: everything (a command). */
  readonly permissions: readonly Permission[] | null;
  /** ms since 1970; null: never. */
  readonly keyExpiresAt: number | null;
  /** Empty: any. */
  readonly keyNetworks: readonly string[];
  readonly ifMatch: readonly string[] | undefined;
  /** Set if an idempotency key was sent. */
  readonly once: OnceOnly | undefined;
}

export interface ManageContext extends ManagePorts, ChangeContext {
  readonly caller: Caller;
  /** Runs a step in turn. Rejects if the client has disconnected. */
  readonly step: Step;
  /** Yields to other work. Rejects like `step`. */
  pause(): Promise<void>;
  readonly isDisconnected: () => boolean;
  /** The address at which hosts reach the service, over https or on this machine, without a final slash; undefined: neither. */
  readonly origin: string | undefined;
}

export const NO_LIMIT: Most = { maxLists: 0, maxFeeds: 0, maxKeys: 0, maxSources: 0 };

export const changeOptions = ({ by, ifMatch, once }: ChangeContext): ChangeOptions => ({ by, ifMatch, once });
