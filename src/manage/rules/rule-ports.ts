/** What management needs to read, explain and change rules. Types only. */

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

export interface RuleManagement {
  /** Appends to the stream; resolves when the messages are durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits until what is on the stream has landed, for 2 s; how many messages are left. */
  untilLanded(): Promise<number>;
  /** Takes batches of signals, as those of `POST /v2/signal` are. */
  readonly accept: Accept;
  /** Tells what signals would change of feeds; undefined where this process builds none. */
  readonly forecast: FeedForecast | undefined;
  /** undefined where this process builds no feeds. */
  readonly explainer: FeedExplainer | undefined;
  readonly schemes: Schemes;
  /** Does long work of a workspace step by step, each a few milliseconds: others get on between them, whatever workspace they are of. */
  stepsOf(workspaceId: string): Step;
  /** Waits until a request of a workspace may begin: one begins in each turn of the event loop, and workspaces take turns. */
  turnOf(workspaceId: string): Promise<void>;
  /** Why the guard rails of the service and of a caller's workspace let no block reach a network; empty where they do. */
  readonly blockFaults: (caller: Caller) => (network: Network) => readonly string[];
  /** Whether a code in capitals is that of a country (ISO 3166). */
  readonly isCountry: (code: string) => boolean;
  /** The geo data in use. */
  readonly geo: () => GeoDatabase;
  /** Where the first address of a network is, or what an ASN is, by the same data; null: of a country. */
  readonly locate: (target: Target) => Locate | null;
  sleep(seconds: number): Promise<void>;
}
