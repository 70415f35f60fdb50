import type { ManagePorts } from '../manage/context.ts';
import type { Readiness } from '../ports/health.ts';
import type { Answer } from './answer.ts';
import type { BouncerEndpoints } from './bouncers/answer.ts';
import type { Answered, Call } from './call.ts';
import type { ConsolePages } from './console/pages.ts';
import type { AnswerDocument } from './feeds/document.ts';
import type { TraceOf } from './monitor/traces.ts';
import type { SubmitSignals } from './signals/submit.ts';

/** What answers the addresses of the documentation. */
export interface Docs {
  /** Says where it is; leads browsers to the console, where there is one. */
  start(call: Call): Answer;
  /** A page of it, one of its files, or an OpenAPI document. */
  page(call: Call): Answered;
}

/** What a process serves: what answers the addresses. undefined: it does not have the role, and its addresses are 404. */
export interface Served {
  readonly submitSignals?: SubmitSignals | undefined;
  /** The step of a trace that a request belongs to. */
  readonly traceOf?: TraceOf;
  /** Whatever is polled: feeds, rules, the configuration of agents. */
  readonly answerDocument?: AnswerDocument | undefined;
  readonly bouncers?: BouncerEndpoints | undefined;
  readonly manage?: ManagePorts | undefined;
  readonly console?: ConsolePages | undefined;
  readonly readiness?: Readiness | undefined;
  readonly docs?: Docs | undefined;
  /** The page of metrics as text. */
  readonly renderMetrics?: (() => Promise<string>) | undefined;
}
