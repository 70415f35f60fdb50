/** SPEC D19.10. */
import { agentNote } from '@weir/expression/agent.ts';
import type { ByteString } from '@weir/expression/bytes.ts';
import { decodeText } from '@weir/expression/bytes.ts';
import { compileExpression } from '@weir/expression/evaluate/compile.ts';
import { explainExpression, type Part } from '@weir/expression/evaluate/explain.ts';
import { CannotRun, EvaluationError, type Layout, layoutOf, type Request } from '@weir/expression/evaluate/value.ts';
import { hintsOf } from '@weir/expression/hints/hints.ts';
import { parseLine } from '@weir/expression/json-bytes.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import { readsOf } from '@weir/expression/reads.ts';
import type { Scheme } from '@weir/expression/scheme.ts';
import { readCurl } from '../../recording/curl.ts';
import { type Recorded, recordedOf } from '../../recording/exchange.ts';
import { readRecord } from '../../recording/record.ts';
import { lackingOf, requestOfRecorded } from '../../recording/view.ts';
import type { ExpressionKind } from '../../rule.ts';

interface Outcome {
  readonly result: boolean | null;
  readonly error: string | null;
}

export interface Tested extends Outcome {
  readonly why: Part;
  /** Fields missing in the request. */
  readonly lacking: readonly string[];
  /** Set if the agent sees other data; null for smart firewall rules. */
  readonly agent: Outcome | null;
  readonly hints: readonly string[];
}

/** `request` has one character per byte. */
export interface TestInput {
  readonly kind: ExpressionKind;
  readonly expression: string;
  readonly request: ByteString;
}

/** Returns a text if the request is unreadable. Rejects with REFUSED if it is too expensive. */
export type ExpressionTester = (input: TestInput) => Promise<Tested | string>;

export function testExpression(expression: string, scheme: Scheme, request: ByteString): Tested | string {
  const parsed = parseExpression(expression, scheme);
  if (!parsed.ok) return parsed.fault.text;
  const layout = layoutOf(scheme);
  const recorded = readOne(request, layout);
  if (typeof recorded === 'string') return recorded;
  try {
    const run = compileExpression(parsed.ast, layout);
    const outcome = evaluate(run, requestOfRecorded(layout, recorded, 'recorded'));
    const why = explainExpression(parsed.ast, layout, requestOfRecorded(layout, recorded, 'recorded'));
    const reads = readsOf(parsed.ast);
    const response = reads.find(({ field }) => field.startsWith('http.response.'));
    const agent =
      scheme.kind !== 'waf_rule'
        ? null
        : response !== undefined
          ? { result: null, error: agentNote(response.field) }
          : evaluate(run, requestOfRecorded(layout, recorded, 'agent'));
    return { ...outcome, why, lacking: lackingOf(reads, recorded), agent, hints: hintsOf(parsed.ast, scheme) };
  } catch (error) {
    if (error instanceof CannotRun) return `the expression cannot be run: ${error.message}`;
    throw error;
  }
}

function evaluate(run: (request: Request) => boolean, request: Request): Outcome {
  try {
    return { result: run(request), error: null };
  } catch (error) {
    if (error instanceof EvaluationError) return { result: null, error: error.message };
    throw error;
  }
}

function readOne(text: ByteString, layout: Layout): Recorded | string {
  const trimmed = text.trim();
  if (trimmed === '') return 'there is no request';
  if (/^curl\s/.test(trimmed)) {
    const exchange = readCurl(decodeText(trimmed) ?? trimmed);
    return typeof exchange === 'string' ? exchange : recordedOf(exchange);
  }
  // JSON may span several lines; of a log only the first line counts.
  const isJson = trimmed.startsWith('{') && parseLine(trimmed) !== null;
  const piece = isJson ? (harEntry(trimmed) ?? trimmed) : trimmed.split('\n', 1)[0];
  return readRecord(piece, layout) ?? 'there is no request';
}

/** Null unless the text is a complete HAR. */
function harEntry(text: ByteString): ByteString | null {
  const { log } = parseLine(text) as { log?: { entries?: unknown[] } | null };
  if (!Array.isArray(log?.entries) || log.entries.length === 0) return null;
  try {
    // Its texts are bytes already.
    return JSON.stringify(log.entries[0]);
  } catch {
    // Nested too deeply to serialize.
    return null;
  }
}
