/** Types only. */

import type { Schemes } from '@weir/expression/scheme.ts';
import type { Network } from '@weir/network/network.ts';
import type { Caller } from '../../account/caller.ts';
import type { FeedForecast } from '../../feed/monitor/forecast.ts';
import type { FeedExplainer } from '../../feed/whatif/explain/explain.ts';
import type { GeoDatabase, Locate } from '../../ports/geo.ts';
import type { Step } from '../../ports/stored/rule-store.ts';
import type { Message } from '../../ports/stream.ts';
import type { Target } from '../../rule.ts';
import type { Accept } from '../../signal/accept.ts';
import type { ApprovalGate } from '../approvals/gate.ts';

export interface RuleManagement {
  /** Resolves when durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Checks changes before they are published (SPEC D67.2). */
  readonly gate: ApprovalGate;
  /** Waits up to 2 s for landing; returns the messages left. */
  untilLanded(): Promise<number>;
  /** Like `POST /v2/signal`. */
  readonly accept: Accept;
  /** undefined if this process builds no feeds. */
  readonly forecast: FeedForecast | undefined;
  /** undefined if this process builds no feeds. */
  readonly explainer: FeedExplainer | undefined;
  readonly schemes: Schemes;
  /** Steps of a few milliseconds, fair among workspaces. */
  stepsOf(workspaceId: string): Step;
  /** One request starts per turn of the event loop, workspaces in rotation. */
  turnOf(workspaceId: string): Promise<void>;
  /** Empty: allowed. */
  readonly blockFaults: (caller: Caller) => (network: Network) => readonly string[];
  /** Blocks that are only reported (SPEC D62.6); undefined: none are. */
  readonly blockWarnings: (caller: Caller) => ((network: Network) => readonly string[]) | undefined;
  /** `code`: ISO 3166, capitals. */
  readonly isCountry: (code: string) => boolean;
  readonly geo: () => GeoDatabase;
  /** null for a country. */
  readonly locate: (target: Target) => Locate | null;
  sleep(seconds: number): Promise<void>;
}
