/** Backtest report: by rule, by action, and over time (SPEC D19.14). */
import { agentNote } from '@weir/expression/agent.ts';
import { layoutOf } from '@weir/expression/evaluate/value.ts';
import { hintsOf } from '@weir/expression/hints/hints.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import { printExpression } from '@weir/expression/print.ts';
import type { Scheme } from '@weir/expression/scheme.ts';
import type { Count, RuleCount, TestedRule } from './rule.ts';
import { compileRule } from './tally.ts';

export type Report = ReturnType<typeof reportOf>;
export type RuleReport = ReturnType<typeof ruleReport>;

export const reportOf = (rules: readonly TestedRule[], scheme: Scheme, view: string, count: Count) => ({
  requests: count.requests,
  unread: count.unread === 0 ? null : { lines: count.unread, first: count.unreadReason! },
  first: iso(count.first),
  last: iso(count.last),
  view,
  rules: rules.map((rule, i) => ruleReport(rules, rule, i, scheme, count)),
  /** Requests by deciding action. */
  actions: Object.fromEntries([...count.actions].sort(([, a], [, b]) => b - a)),
  /** Requests and decided requests, in equal intervals. */
  histogram: histogramOf(count.minutes),
});

const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

function ruleReport(rules: readonly TestedRule[], rule: TestedRule, i: number, scheme: Scheme, count: Count) {
  const counted = count.rules[i];
  const compiled = compileRule(rule.expression, layoutOf(scheme));
  const parsed = parseExpression(rule.expression, scheme);
  const isRun = typeof compiled !== 'string';
  const nameOf = (index: number) => rules[index].name;
  const reads = isRun ? compiled.reads : [];
  const lacks = (what: string) =>
    reads.some(({ field, key }) => what === field || what === `${field}["${key}"]` || (key === null && what === `most of ${field}`));
  const notes = scheme.kind === 'waf_rule' ? reads.map(({ field }) => agentNote(field)).filter((note) => note !== null) : [];
  const silent = isRun && counted.matches > 0 && counted.atAgent === 0 ? ['it never fires at the agent'] : [];
  return {
    ...rule,
    /** Reason it cannot run. */
    fault: isRun ? null : compiled,
    matches: counted.matches,
    /** Of all requests, 0 to 1. */
    share: count.requests === 0 ? 0 : counted.matches / count.requests,
    decides: counted.decides,
    first: iso(counted.first),
    last: iso(counted.last),
    samples: counted.samples.map(({ at: _, ...sample }) => sample),
    /** Matches decided by earlier rules. */
    taken: [...counted.taken].sort(([, a], [, b]) => b - a).map(([by, requests]) => ({ by: nameOf(by), requests })),
    /** Rules with matches that are all matches of this rule too. */
    contains: containedIn(count, i).map(nameOf),
    /** Reasons for no match. */
    never: isRun && counted.matches === 0 && count.requests > 0 ? whyNever(compiled.parts.map(printExpression), counted) : [],
    atAgent: counted.atAgent,
    /** Fields with other values at the agent, or why it never fires there. */
    agent: [...silent, ...new Set(notes)],
    /** Fields used by the rule but missing in requests. */
    lacking: [...count.lacking].filter(([what]) => lacks(what)).map(([what, requests]) => ({ what, requests })),
    errors: counted.errors === 0 ? null : { requests: counted.errors, first: counted.error! },
    hints: parsed.ok ? hintsOf(parsed.ast, scheme).filter((hint) => !notes.includes(hint)) : [],
  };
}

/** The parts that were never true; one sentence if each was, but never all together. */
function whyNever(parts: readonly string[], { seen }: RuleCount): string[] {
  if (parts.length === 1) return [`never true: ${parts[0]}`];
  const never = parts.filter((_, i) => seen[i] !== true);
  return never.length > 0
    ? never.map((part) => `never true: ${part}`)
    : ['each part is true of some requests, but never all of them together'];
}

function containedIn({ both, rules }: Count, i: number): number[] {
  if (both === null) return [];
  return rules.flatMap((rule, j) => (j !== i && rule.matches > 0 && both.get(i * rules.length + j) === rule.matches ? [j] : []));
}

const MOST_BARS = 60;

function histogramOf(minutes: Count['minutes']) {
  if (minutes.size === 0) return { seconds: 60, bars: [] };
  const keys = [...minutes.keys()];
  const first = keys.reduce((a, b) => Math.min(a, b));
  const last = keys.reduce((a, b) => Math.max(a, b));
  const width =
    [1, 5, 15, 60, 360, 1440].find((minutes) => (last - first) / minutes < MOST_BARS) ??
    Math.ceil((last - first + 1) / MOST_BARS / 1440) * 1440;
  const start = Math.floor(first / width);
  const bars = Array.from({ length: Math.floor(last / width) - start + 1 }, (_, i) => ({
    start: new Date((start + i) * width * 60_000).toISOString(),
    requests: 0,
    decided: 0,
  }));
  for (const [minute, [requests, decided]] of minutes) {
    const bar = bars[Math.floor(minute / width) - start];
    bar.requests += requests;
    bar.decided += decided;
  }
  return { seconds: width * 60, bars };
}
