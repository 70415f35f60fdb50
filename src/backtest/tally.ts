/** Evaluates rules on recorded requests and counts the results (SPEC D19.14). */

import { addressText } from '@weir/expression/address.ts';
import { agentNote } from '@weir/expression/agent.ts';
import type { Expression, FilterAst } from '@weir/expression/ast.ts';
import { type ByteString, decodeText } from '@weir/expression/bytes.ts';
import { compileExpression } from '@weir/expression/evaluate/compile.ts';
import type { Run } from '@weir/expression/evaluate/compiler.ts';
import { CannotRun, EvaluationError, type Layout, layoutOf, type Request } from '@weir/expression/evaluate/value.ts';
import { faultLine } from '@weir/expression/fault.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import { type Read, readsOf } from '@weir/expression/reads.ts';
import type { Scheme } from '@weir/expression/scheme.ts';
import type { Piece } from '../recording/bytes.ts';
import type { Recorded } from '../recording/exchange.ts';
import { readRecord } from '../recording/record.ts';
import { lackingOf, requestOfRecorded } from '../recording/view.ts';
import { type Count, emptyCount, least, most, SAMPLED, SAMPLES, type Sample, type TallyOptions, type TestedRule } from './rule.ts';

interface Compiled {
  readonly run: Run;
  readonly reads: readonly Read[];
  /** Operands of the outermost `and`, or the full expression. */
  readonly parts: readonly Expression[];
  readonly partRuns: readonly Run[];
  /** Whether the agent's view differs from the recording. */
  readonly differs: boolean;
  /** Whether the agent ignores the rule. */
  readonly unknown: boolean;
}

/** Returns a fault as text. */
export function compileRule(expression: string, layout: Layout): Compiled | string {
  const parsed = parseExpression(expression, layout.scheme);
  if (!parsed.ok) return faultLine(parsed.fault);
  const parts = partsOf(parsed.ast);
  const reads = readsOf(parsed.ast);
  const isWaf = layout.scheme.kind === 'waf_rule';
  try {
    return {
      run: compileExpression(parsed.ast, layout),
      reads,
      parts,
      partRuns: parts.map((part) => compileExpression(part, layout)),
      differs: isWaf && reads.some(({ field }) => field === 'http.request.content_length' || agentNote(field) !== null),
      unknown: isWaf && reads.some(({ field }) => field.startsWith('http.response.')),
    };
  } catch (error) {
    if (error instanceof CannotRun) return error.message;
    throw error;
  }
}

export const partsOf = (ast: FilterAst): readonly Expression[] => (ast.kind === 'combination' && ast.op === 'and' ? ast.items : [ast]);

/** Counts lines or entries; `at` is the position of the first one in the recording. */
export interface Tally {
  take(pieces: readonly Piece[], at: number): void;
  readonly count: Count;
}

/** In ms; maximum number of minutes. */
const MINUTE = 60_000;
const MOST_MINUTES = 100_000;

export function tallyOf(rules: readonly TestedRule[], scheme: Scheme, { view, geoOf }: TallyOptions): Tally {
  const layout = layoutOf(scheme);
  const compiled = rules.map(({ expression }) => compileRule(expression, layout));
  const count = emptyCount(rules.length);
  const other = view === 'agent' ? 'recorded' : 'agent';
  const reads = new Map<string, Read>();
  for (const rule of compiled) {
    if (typeof rule === 'string') continue;
    for (const read of rule.reads) reads.set(`${read.field} ${read.key ?? '*'}`, read);
  }
  const allReads = [...reads.values()];

  function take(piece: Piece, at: number): void {
    const read = readRecord(piece, layout);
    if (read === null) return;
    if (typeof read === 'string') {
      count.unread++;
      count.unreadReason ??= read;
      return;
    }
    const client = geoOf === undefined ? undefined : read.fields['ip.src'];
    const recorded = typeof client === 'string' ? { ...read, fields: { ...geoOf!(client), ...read.fields } } : read;
    count.requests++;
    const { time } = recorded;
    [count.first, count.last] = [least(count.first, time), most(count.last, time)];
    for (const name of lackingOf(allReads, recorded)) add(count.lacking, name);
    const decided = judge(recorded, at);
    add(count.actions, decided === -1 ? 'none' : rules[decided].action);
    if (time === null) return;
    const minute = Math.floor(time / MINUTE);
    const known = count.minutes.get(minute);
    if (known !== undefined) {
      known[0]++;
      if (decided !== -1) known[1]++;
    } else if (count.minutes.size < MOST_MINUTES) count.minutes.set(minute, [1, decided === -1 ? 0 : 1]);
  }

  /** Returns the deciding rule; -1 = none. */
  function judge(recorded: Recorded, at: number): number {
    const request = requestOfRecorded(layout, recorded, view);
    let seenOtherwise: Request | undefined;
    let decided = -1;
    let ended = false;
    const matching: number[] = [];
    for (let i = 0; i < compiled.length; i++) {
      const rule = compiled[i];
      if (typeof rule === 'string') continue;
      // The agent does not load such a rule.
      const result = view === 'agent' && rule.unknown ? false : evaluate(rule.run, request, i);
      const counted = count.rules[i];
      if (rule.differs && view === 'recorded' && !rule.unknown) {
        seenOtherwise ??= requestOfRecorded(layout, recorded, other);
        if (evaluate(rule.run, seenOtherwise, i) === true) counted.atAgent++;
      } else if (result === true && !rule.unknown) counted.atAgent++;
      // The agent allows the request after a failed evaluation.
      if (result === null) ended = true;
      if (result !== true) {
        if (counted.matches === 0) look(rule, counted.seen, request);
        continue;
      }
      matching.push(i);
      counted.matches++;
      [counted.first, counted.last] = [least(counted.first, recorded.time), most(counted.last, recorded.time)];
      if (counted.samples.length < SAMPLES && counted.matches <= SAMPLED) addSample(counted.samples, sampleOf(recorded, at));
      if (decided === -1 && !ended) {
        decided = i;
        counted.decides++;
      } else if (decided !== -1) add(counted.taken, decided);
    }
    if (count.both !== null && matching.length > 1) {
      for (const i of matching) for (const j of matching) if (i !== j) add(count.both, i * compiled.length + j);
    }
    return decided;
  }

  function evaluate(run: Run, request: Request, i: number): boolean | null {
    try {
      return run(request);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      count.rules[i].errors++;
      count.rules[i].error ??= error.message;
      return null;
    }
  }

  return {
    take(pieces, at) {
      for (const [i, piece] of pieces.entries()) take(piece, at + i);
    },
    count,
  };
}

/** Notes true parts of a rule without a match so far; skips parts that were true before. */
function look({ partRuns }: Compiled, seen: boolean[], request: Request): void {
  for (let i = 0; i < partRuns.length; i++) {
    if (seen[i]) continue;
    try {
      seen[i] = partRuns.length > 1 && partRuns[i](request);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      seen[i] = false;
    }
  }
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Samples of one rule differ in method or path. */
function addSample(samples: Sample[], sample: Sample): void {
  const path = (target: string | null) => target?.split('?', 1)[0];
  if (!samples.some(({ method, target }) => method === sample.method && path(target) === path(sample.target))) samples.push(sample);
}

const MOST_TEXT = 200;

function sampleOf({ time, fields }: Recorded, at: number): Sample {
  const text = (name: string): string | null => (typeof fields[name] === 'string' ? textOf(fields[name]) : null);
  const client = fields['ip.src'];
  const [path, query] = [text('http.request.path'), fields['http.request.query']];
  return {
    at,
    time,
    client: typeof client === 'string' ? addressText(client) : null,
    method: text('http.request.method'),
    target: path === null ? null : typeof query === 'string' && query !== '' ? `${path}?${textOf(maskQuery(query))}` : path,
    userAgent: text('http.request.user_agent'),
    status: typeof fields['http.response.code'] === 'number' ? fields['http.response.code'] : null,
  };
}

/** Removes the values. */
export const maskQuery = (query: ByteString): ByteString =>
  query
    .split('&')
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=…` : '…'))
    .join('&')
    .replaceAll('…', '\xe2\x80\xa6');

function textOf(bytes: ByteString): string {
  const text = decodeText(bytes) ?? bytes;
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
