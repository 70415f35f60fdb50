import type { ManagePorts } from '../manage/context.ts';
import type { Readiness } from '../ports/health.ts';
import type { Answer } from './answer.ts';
import type { BouncerEndpoints } from './bouncers/answer.ts';
import type { Answered, Call } from './call.ts';
import type { ConsolePages } from './console/pages.ts';
import type { Enrolments } from './enroll/enroll.ts';
import type { Origins } from './enroll/origin.ts';
import type { HttpFault } from './errors.ts';
import type { AnswerDocument } from './feeds/document.ts';
import type { TraceOf } from './monitor/traces.ts';
import type { SubmitSignals } from './signals/submit.ts';

export interface Docs {
  /** Redirects browsers to the console if there is one. */
  start(call: Call): Answer;
  page(call: Call): Answered;
}

/** undefined: the process lacks the role, and the addresses are 404. */
export interface Served {
  readonly submitSignals?: SubmitSignals | undefined;
  readonly traceOf?: TraceOf;
  /** Feeds, rules, agent configuration. */
  readonly answerDocument?: AnswerDocument | undefined;
  readonly bouncers?: BouncerEndpoints | undefined;
  /** For a bouncer that has waited: why its key is refused now. */
  readonly readmit?: ((call: Call) => Promise<HttpFault | undefined>) | undefined;
  readonly manage?: ManagePorts | undefined;
  /** Absent: this process names no address. */
  readonly origins?: Origins;
  readonly enrolments?: Enrolments | undefined;
  readonly console?: ConsolePages | undefined;
  readonly readiness?: Readiness | undefined;
  readonly docs?: Docs | undefined;
  readonly integrations?: ((call: Call) => Answered) | undefined;
  readonly renderMetrics?: (() => Promise<string>) | undefined;
}
