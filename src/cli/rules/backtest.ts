import type { Report, RuleReport } from '../../backtest/report.ts';
import { reportOf } from '../../backtest/report.ts';
import type { TestedRule } from '../../backtest/rule.ts';
import { inOrder, type OrderedRule, readRuleFile } from '../../backtest/rules.ts';
import { WeirError } from '../../errors.ts';
import { loadGeo } from '../../geo/load.ts';
import { VIEWS } from '../../recording/view.ts';
import { EXPRESSION_KINDS, type ExpressionKind, type ExpressionRule } from '../../rule.ts';
import { geoFiles } from '../../runtime/geo.ts';
import { backtest } from '../../runtime/jobs/backtest.ts';
import { readsGeo } from '../../runtime/jobs/work/backtest-geo.ts';
import { readSchemes } from '../../runtime/schemes.ts';
import type { AddCommand } from '../command.ts';
import { type Context, cut, printable, table, workspaceIn } from '../context.ts';
import { startProgress } from '../progress.ts';
import { type Input, openInput } from '../signals/input.ts';
import { oneOf } from '../usage.ts';

const MAX_RULE_FILE = 64 * 1024 * 1024;

export function backtestCommand(add: AddCommand): void {
  add(
    'backtest <recordings...>',
    'show what rules would have done to recorded requests: logs of nginx, Apache, Envoy, Caddy or the agent, HAR; gzip or not; "-" is standard input',
    (c) =>
      c
        .option('--workspace <workspace>', 'the rules of this workspace')
        .option(
          '--rules <file>',
          'rules as envelopes, as weir send takes them; with --workspace they are added, or replace those with their rule_ref',
        )
        .option('--expression <expression>', 'one rule with this expression')
        .option('--kind <kind>', EXPRESSION_KINDS.join(' or '), oneOf('--kind', EXPRESSION_KINDS), 'waf_rule')
        .option('--as <view>', 'read requests as recorded, or as the agent sees them', oneOf('--as', VIEWS), 'recorded'),
    {
      async run(context, files, options) {
        const { kind, as: view } = options;
        const schemesFile = context.config.schemesFile;
        const scheme = readSchemes(schemesFile)[kind as ExpressionKind];
        const rules = await rulesOf(context, options);
        const inputs: Input[] = [];
        for (const file of files) inputs.push(await openInput(file));
        const sizes = inputs.map(({ size }) => size);
        const total = sizes.some((size) => size === undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + size!, 0);
        const progress = startProgress(context, plural(rules.length, 'rule'), total, { MiB: 0 });
        try {
          const count = await backtest({ rules, kind, view, schemesFile, geo: await geoFor(context, rules) }, chunksOf(inputs), (bytes) =>
            progress.update(bytes, { MiB: Math.round(bytes / 1024 / 1024) }),
          );
          return reportOf(rules, scheme, view, count);
        } finally {
          progress.stop();
        }
      },
      show: reportText,
    },
  );
}

/** undefined: no rule reads geo data. */
async function geoFor({ config }: Context, rules: readonly TestedRule[]) {
  if (!readsGeo(rules)) return undefined;
  const { country, asn } = await loadGeo(geoFiles(config), config.dataDir);
  return { country: country.table, asn: asn.table };
}

async function* chunksOf(inputs: readonly Input[]): AsyncGenerator<AsyncIterable<Buffer>> {
  for (const { chunks } of inputs) yield chunks;
}

interface RuleOptions {
  readonly workspace?: string;
  readonly rules?: string;
  readonly expression?: string;
  readonly kind: ExpressionKind;
}

async function rulesOf(context: Context, { workspace, rules: file, expression, kind }: RuleOptions): Promise<TestedRule[]> {
  if (expression !== undefined) {
    if (workspace !== undefined || file !== undefined) throw new WeirError('USAGE', '--expression stands alone');
    return [{ name: 'expression', expression, action: 'block' }];
  }
  if (workspace === undefined && file === undefined) throw new WeirError('USAGE', 'name the rules: --workspace, --rules or --expression');
  const stored = workspace === undefined ? [] : await storedRules(context, workspace, kind);
  const given = file === undefined ? [] : await fileRules(file, kind);
  const replaced = new Set(given.map(({ ref }) => ref));
  const rules = inOrder([...stored.filter(({ ref }) => !replaced.has(ref)), ...given]);
  if (rules.length === 0) throw new WeirError('USAGE', `there is no rule of the kind ${kind}`);
  return rules;
}

async function storedRules(context: Context, workspace: string, kind: ExpressionKind): Promise<OrderedRule[]> {
  const store = await context.reads();
  const rules: OrderedRule[] = [];
  for await (const { rule } of store.rules((await workspaceIn(context, store, workspace)).id, { kind, now: Date.now() })) {
    const { ruleRef, name, expression, action, order } = rule as ExpressionRule;
    rules.push({ ref: ruleRef, name: name ?? ruleRef, expression, action, order });
  }
  return rules;
}

async function fileRules(file: string, kind: ExpressionKind): Promise<OrderedRule[]> {
  const { chunks, size = 0 } = await openInput(file);
  if (size > MAX_RULE_FILE) throw new WeirError('USAGE', `${file} is larger than ${MAX_RULE_FILE / 1024 / 1024} MiB`);
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const read = readRuleFile(Buffer.concat(parts).toString('utf8'), kind);
  if (typeof read === 'string') throw new WeirError('USAGE', `${file}: ${read}`);
  return read;
}

const count = (value: number): string => value.toLocaleString('en');
const plural = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`;
const percent = (share: number): string => `${share > 0 && share < 0.00005 ? '<0.01' : (share * 100).toFixed(2)}%`;

function reportText(report: Report): string {
  const { requests, unread, first, last, view, rules, actions } = report;
  const span = first === null ? '' : `, ${first} to ${last}`;
  const lines = [`${plural(requests, 'request')}${span}, ${view === 'agent' ? 'as the agent sees them' : 'as recorded'}`];
  if (unread !== null) lines.push(`${plural(unread.lines, 'line')} without a request, first: ${unread.first}`);
  lines.push(
    '',
    table(['DECIDED BY', 'REQUESTS', 'SHARE'], Object.entries(actions), ([action, number]) => [
      action === 'none' ? 'no rule' : action,
      count(number),
      percent(number / requests),
    ]),
  );
  const columns = ['RULE', 'ACTION', 'MATCHES', 'SHARE', 'DECIDES', 'FIRST', 'LAST'];
  const cells = (rule: RuleReport) => [
    cut(rule.name, 40),
    rule.action,
    count(rule.matches),
    percent(rule.share),
    count(rule.decides),
    rule.first,
    rule.last,
  ];
  lines.push('', table(columns, rules, cells));
  for (const rule of rules) {
    const details = detailsOf(rule, requests);
    if (details.length > 0)
      lines.push('', `${cut(rule.name, 100)}: ${cut(rule.expression, 200)}`, ...details.map((detail) => `  ${detail}`));
  }
  return lines
    .flatMap((line) => line.split('\n'))
    .map(printable)
    .join('\n');
}

function detailsOf(rule: RuleReport, requests: number): string[] {
  const lines: string[] = [];
  if (rule.fault !== null) lines.push(`cannot be run: ${rule.fault}`);
  for (const reason of rule.never) lines.push(`never matches: ${reason}`);
  for (const { by, requests } of rule.taken.slice(0, 5))
    lines.push(`${by} takes ${count(requests)} of its ${count(rule.matches)} requests`);
  if (rule.taken.length > 5) lines.push(`and ${plural(rule.taken.length - 5, 'more rule')} take of them`);
  if (rule.contains.length > 0)
    lines.push(
      `contains ${rule.contains.slice(0, 5).join(', ')}${rule.contains.length > 5 ? ` and ${rule.contains.length - 5} more` : ''}`,
    );
  if (rule.errors !== null) lines.push(`fails for ${plural(rule.errors.requests, 'request')}: ${rule.errors.first}`);
  for (const { what, requests: number } of rule.lacking)
    lines.push(`${what} is not recorded in ${percent(number / requests)} of the requests: the default of the engine counts`);
  for (const note of rule.agent) lines.push(note);
  for (const hint of rule.hints) lines.push(`hint: ${hint}`);
  for (const { time, client, method, target, userAgent, status } of rule.samples) {
    const when = time === null ? null : new Date(time).toISOString();
    const agent = userAgent === null ? null : `"${cut(userAgent, 60)}"`;
    lines.push(`e.g. ${[when, client, method, target, status, agent].filter((part) => part !== null).join(' ')}`);
  }
  return lines;
}
