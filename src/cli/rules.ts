import { isoTime } from '../clock.ts';
import type { StoredRule } from '../ports/rule-store.ts';
import { KINDS } from '../rule.ts';
import { warningOf } from '../signal/rate-limit.ts';
import { ruleJson } from '../signal/rule-json.ts';
import { formatTarget } from '../signal/target.ts';
import type { AddCommand } from './command.ts';
import { type Context, findList, workspaceId, writeLine } from './context.ts';
import { oneOf } from './usage.ts';

/** A stored rule as one line for people. */
export function ruleLine({ rule }: StoredRule): string {
  const what = 'target' in rule ? formatTarget(rule.target) : `${rule.type} ${rule.expression}`;
  const warning = 'expression' in rule ? warningOf(rule) : null;
  const shown = [rule.action, what, rule.ruleRef ?? '-', isoTime(rule.expiresAt) ?? 'no expiry', rule.name ?? ''];
  const line = [...shown, ...(warning === null ? [] : [`warning: ${warning}`])].join('  ').trimEnd();
  // Callers wrote expression and name: no line break ends the line, nothing in them speaks to the terminal.
  return line.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/** A rule with what agents would ignore of it. */
function listedJson(stored: StoredRule): Record<string, unknown> {
  const warning = 'expression' in stored.rule ? warningOf(stored.rule) : null;
  return warning === null ? ruleJson(stored) : { ...ruleJson(stored), warning };
}

/** Prints rules as they come: a list of any length needs no memory. */
type Print = (context: Context, rules: AsyncIterable<StoredRule>) => Promise<void>;

const lines =
  (line: (rule: StoredRule) => string): Print =>
  async ({ stdout }, rules) => {
    for await (const rule of rules) await writeLine(stdout, line(rule));
  };
const text = lines(ruleLine);
const ndjson = lines((rule) => JSON.stringify(listedJson(rule)));

async function* counted<T>(items: AsyncIterable<T>, progress: { read: number }): AsyncGenerator<T> {
  for await (const item of items) {
    progress.read += 1;
    yield item;
  }
}

/** A JSON array, one rule a line. Where it has to be cut, its end is missing: no reader takes it for whole. */
const jsonArray: Print = async ({ stdout }, rules) => {
  let begin = '[';
  for await (const rule of rules) {
    await writeLine(stdout, `${begin}${JSON.stringify(listedJson(rule))}`);
    begin = ',';
  }
  await writeLine(stdout, begin === '[' ? '[]' : ']');
};

export function ruleCommands(add: AddCommand): void {
  add(
    'rule ls',
    'list the active rules of a workspace',
    (c) =>
      c
        .requiredOption('--workspace <workspace>', 'id or unique name of the workspace')
        .option('--list <list>', 'only this list')
        .option('--kind <kind>', KINDS.join(', '), oneOf('--kind', KINDS), 'access_rule')
        .option('--ndjson', 'print JSON for programs, one object a line'),
    {
      async run(context, _args, options) {
        const store = await context.reads();
        const workspace = await workspaceId(store, options.workspace);
        const listId = options.list === undefined ? undefined : (await findList(store, workspace, options.list)).id;
        const print = options.ndjson ? ndjson : options.json ? jsonArray : text;
        const progress = { read: 0 };
        try {
          await print(context, counted(store.rules(workspace, { listId, kind: options.kind, now: Date.now() }), progress));
        } catch (error) {
          if (progress.read === 0) throw error;
          context.exitCode = 1;
          context.stderr.write(`weir: the list is cut after ${progress.read} rules: ${(error as Error).message}\n`);
        }
      },
      show: () => '',
    },
  );
}
