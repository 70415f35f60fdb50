/** Pairs of an expression and a request, one JSON object per line (D19.9). */
import { type ByteString, decodeText } from '../bytes.ts';
import { faultLine } from '../fault.ts';
import { parseLine } from '../json-bytes.ts';
import { MAX_CHARACTERS, parseExpression } from '../parser.ts';
import type { Scheme, SchemeKind, Schemes } from '../scheme.ts';
import { compileExpression } from './compile.ts';
import type { Run } from './compiler.ts';
import { requestOfJson } from './json-request.ts';
import { CannotRun, EvaluationError, type Layout, layoutOf } from './value.ts';

/** `error` is `panic` if the engine itself would fail, with the reason in `detail`. */
type Outcome = { readonly result: boolean } | { readonly error: string; readonly detail?: string };

/** Evaluates lines; caches the last compiled expressions. */
export function pairEvaluator(schemes: Schemes): (line: ByteString) => string {
  const layouts = new Map<string, Layout>();
  const compiled = new Map<string, Run | string>();

  function layout(scheme: Scheme): Layout {
    const known = layouts.get(scheme.kind) ?? layoutOf(scheme);
    layouts.set(scheme.kind, known);
    return known;
  }

  function compile(scheme: Scheme, expression: string): Run | string {
    const key = `${scheme.kind} ${expression}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (compiled.size >= MAX_CACHED) compiled.delete(compiled.keys().next().value!);
    const made = compileText(scheme, expression, layout(scheme));
    compiled.set(key, made);
    return made;
  }

  return (line) => {
    const json = parseLine(line);
    const { id = null, scheme: kind, expression, request } = json ?? {};
    const outcome = (): Outcome => {
      if (json === null) return { error: 'the line is no JSON object' };
      if (typeof kind !== 'string' || !Object.hasOwn(schemes, kind))
        return { error: `scheme must be one of: ${Object.keys(schemes).join(', ')}` };
      if (typeof expression !== 'string') return { error: 'expression must be a text' };
      if (typeof request !== 'object' || request === null || Array.isArray(request))
        return { error: 'request must be an object of fields' };
      const run = compile(schemes[kind as SchemeKind], decodeText(expression) ?? expression);
      if (typeof run === 'string') return { error: run };
      return evaluate(run, layouts.get(kind)!, request as Record<string, unknown>);
    };
    return JSON.stringify({ id: typeof id === 'string' ? decodeText(id) : id, ...outcome() });
  };
}

const MAX_CACHED = 1000;

function compileText(scheme: Scheme, expression: string, layout: Layout): Run | string {
  if (Array.from(expression).length > MAX_CHARACTERS) return `the expression is longer than ${MAX_CHARACTERS} characters`;
  const parsed = parseExpression(expression, scheme);
  if (!parsed.ok) return faultLine(parsed.fault);
  try {
    return compileExpression(parsed.ast, layout);
  } catch (error) {
    if (error instanceof CannotRun) return `the expression cannot be run: ${error.message}`;
    throw error;
  }
}

function evaluate(run: Run, layout: Layout, request: Record<string, unknown>): Outcome {
  try {
    return { result: run(requestOfJson(layout, request, asBytes)) };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return error.code === 'panic' ? { error: 'panic', detail: error.message } : { error: error.message };
  }
}

const asBytes = (text: ByteString): ByteString => text;
