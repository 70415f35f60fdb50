import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Instant } from '../clock.ts';
import type { Answer } from './answer.ts';
import type { HttpFault } from './errors.ts';

/** A request that has found its address. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When it arrived. */
  readonly at: Instant;
  /** The address of the client. */
  readonly ip: string;
  /** What stands at the places of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Whether the path cannot be decoded; `params` mean nothing then. */
  readonly isMalformed: boolean;
  /** The query as it was sent, without its question mark. */
  readonly query: string;
}

/** What is answered: at once where it is there, as what is polled mostly is. */
export type Answered = Answer | HttpFault | Promise<Answer | HttpFault>;
