/** What management needs to read, explain and change rules. Types only. */
import type { Schemes } from '@weir/expression/scheme.ts';
import type { FeedExplainer } from '../feed/explain/explain.ts';
import type { Message } from '../ports/stream.ts';
import type { Submission } from './submission.ts';

export interface RuleManagement {
  /** Appends to the stream; resolves when the messages are durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits until what is on the stream has landed, for 2 s; how many messages are left. */
  untilLanded(): Promise<number>;
  readonly submission: Submission;
  /** undefined where this process builds no feeds. */
  readonly explainer: FeedExplainer | undefined;
  readonly schemes: Schemes;
  /** Gives other work of this thread its turn. */
  pause(): Promise<void>;
}
