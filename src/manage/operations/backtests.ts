/** SPEC D19.16 to D19.18. */
import { faultLine } from '@weir/expression/fault.ts';
import type { TestedRule } from '../../backtest/rule.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, exampleOf, type Fields, nullable, Type, textField, wordField } from '../../json/schema.ts';
import type { StepPlace } from '../../ports/stored/rule-queries.ts';
import { VIEWS, type View } from '../../recording/view.ts';
import { EXPRESSION_KINDS, type ExpressionKind, type ExpressionRule } from '../../rule.ts';
import type { ManageContext } from '../context.ts';
import { BACKTEST_STATES, type BacktestJob } from '../expressions/backtests.ts';
import { judgeExpression } from '../expressions/check.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';
import { rulePage } from '../rules/rule-search.ts';

const MOST_BYTES = 16 * 1024 * 1024;
const MOST_RULES = 500;

const JOB = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  state: ['running', Type.Enum([...BACKTEST_STATES])],
  kind: ['waf_rule', Type.Enum([...EXPRESSION_KINDS])],
  as: ['recorded', Type.Enum([...VIEWS])],
  rules: [12, 'Number of tested rules.'],
  bytes: [4_812_331, 'Size of the recording as sent.'],
  read_bytes: [1_048_576, 'How much of it has been read.'],
  requests: [8120, 'Requests evaluated so far.'],
  started_at: '2026-11-20T10:00:00.000Z',
  ended_at: [null, nullable(Type.String({ format: 'date-time' }))],
  fault: [null, nullable(Type.String({ description: 'The reason of a failure.' }))],
} as const satisfies Fields;

const RESULT =
  'The output of `weir backtest --json`; null until it is done: requests, unread, first, last, view, rules, actions, histogram.';
const Job = answerOf('Backtest', JOB);
const JobWithResult = answerOf('BacktestResult', {
  ...JOB,
  result: [null, nullable(Type.Object({}, { additionalProperties: true, description: RESULT }))],
});

const jobJson = (job: BacktestJob) => ({
  id: job.id,
  state: job.state,
  kind: job.kind,
  as: job.view,
  rules: job.rules,
  bytes: job.bytes,
  read_bytes: job.readBytes,
  requests: job.requests,
  started_at: isoTime(job.startedAt),
  ended_at: job.endedAt === null ? null : isoTime(job.endedAt),
  fault: job.fault,
});

const NONE = 'this process has no such backtest: it runs in another process, ended over an hour ago, or was lost at a restart';

function known({ backtests, workspaceId }: ManageContext, id: string): BacktestJob {
  const job = backtests.find(workspaceId, id.toLowerCase());
  if (job === undefined) throw new WeirError('NOT_FOUND', NONE);
  return job;
}

/** In evaluation order. */
async function storedRules({ store, workspaceId, now, pause }: ManageContext, kind: ExpressionKind): Promise<TestedRule[]> {
  const rules: TestedRule[] = [];
  let after: StepPlace | undefined;
  do {
    const page = await rulePage(store, workspaceId, { kind }, { now: now(), after, limit: MOST_RULES + 1 - rules.length, pause });
    for (const { rule } of page.rules) {
      const { ruleRef, name, expression, action } = rule as ExpressionRule;
      rules.push({ name: name ?? ruleRef, expression, action });
    }
    after = page.next ?? undefined;
  } while (after !== undefined && rules.length <= MOST_RULES);
  if (rules.length === 0) throw new WeirError('REFUSED', `the workspace has no rules of the kind ${kind}`);
  if (rules.length > MOST_RULES)
    throw new WeirError('REFUSED', `the workspace has more than ${MOST_RULES} rules of the kind ${kind}: use weir backtest`);
  return rules;
}

interface Asked {
  readonly as?: View;
  readonly kind?: ExpressionKind;
  readonly expression?: string;
}

async function start(context: ManageContext, { as: view = 'recorded', kind = 'waf_rule', expression }: Asked, recording: Uint8Array) {
  if (recording.length === 0) throw fieldFault('body', 'must be a recording');
  if (expression !== undefined) {
    const { fault } = judgeExpression(expression, context.schemes[kind]);
    if (fault !== null) throw fieldFault('expression', faultLine(fault));
  }
  const rules = expression === undefined ? await storedRules(context, kind) : [{ name: 'expression', expression, action: 'block' }];
  return jobJson(context.backtests.start(context.workspaceId, { kind, view, rules, recording }));
}

export const BACKTEST_OPERATIONS: readonly Operation[] = [
  operation('startBacktest', 'POST /backtests', 'rules:read', {
    summary: 'Start a backtest: evaluate rules on recorded requests',
    description:
      'The body is a recording: a log of nginx, Apache, Envoy, Caddy or the agent, a HAR, or lines of fields; gzip or plain. It is not stored. Tests the rules of the workspace or one expression. A workspace can run one backtest at a time.',
    query: Type.Object({
      as: wordField(VIEWS, 'Requests as recorded (default), or as the agent sees them.'),
      kind: wordField(EXPRESSION_KINDS, 'Default: waf_rule.'),
      expression: textField(4096, 'Instead of the rules of the workspace.'),
    }),
    rawBody: { type: 'text/plain', example: '192.0.2.1 - - [20/Nov/2026:10:00:00 +0000] "GET /login HTTP/1.1" 200 512 "-" "curl/8"\n' },
    bodyBytes: MOST_BYTES,
    answer: Job,
    refusals: { 409: 'a backtest of the workspace is already running: 0f8fad5b-d9cb-469f-a165-70867728950e' },
    run: (context, { query, bytes }) => start(context, query as Asked, bytes),
    status: 202,
    show: (body) => ({ body, location: `/backtests/${body.id}` }),
  }),
  operation('listBacktests', 'GET /backtests', 'rules:read', {
    summary: 'List the backtests of the last hour, newest first',
    answer: answerOf('Backtests', { backtests: [[exampleOf(JOB)], Type.Array(Job)] }),
    run: async ({ backtests, workspaceId }) => ({ backtests: backtests.of(workspaceId).map(jobJson) }),
  }),
  operation('getBacktest', 'GET /backtests/{backtest}', 'rules:read', {
    summary: 'Get the progress and result of a backtest',
    answer: JobWithResult,
    refusals: { 404: NONE },
    run: async (context, { params }) => {
      const job = known(context, params.backtest!);
      return { ...jobJson(job), result: context.backtests.result(context.workspaceId, job.id) ?? null };
    },
  }),
  operation('deleteBacktest', 'DELETE /backtests/{backtest}', 'rules:read', {
    summary: 'Cancel a running backtest, or forget a finished one',
    answer: Job,
    refusals: { 404: NONE },
    run: async (context, { params }) => {
      const job = known(context, params.backtest!);
      context.backtests.remove(context.workspaceId, job.id);
      return jobJson(job);
    },
  }),
];
