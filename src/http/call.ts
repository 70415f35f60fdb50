import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Instant } from '../clock.ts';
import type { Answer } from './answer.ts';
import type { HttpFault } from './errors.ts';

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly at: Instant;
  readonly ip: string;
  readonly params: Readonly<Record<string, string>>;
  /** The path cannot be decoded; ignore `params`. */
  readonly isMalformed: boolean;
  /** Raw, without the question mark. */
  readonly query: string;
}

/** Synchronous if available, as most polls are. */
export type Answered = Answer | HttpFault | Promise<Answer | HttpFault>;
