import type { StoredRule } from '../ports/rule-store.ts';
import { KINDS } from '../rule.ts';
import { formatTarget } from '../signal/target.ts';
import type { AddCommand } from './command.ts';
import { findList, isoTime, workspaceId, writeLine } from './context.ts';
import { oneOf } from './usage.ts';

/** A stored rule in the words of the wire. */
export function ruleJson({ id, kind, listId, rule, createdAt, updatedAt }: StoredRule): Record<string, unknown> {
  const body =
    'target' in rule
      ? { list_id: listId, target: formatTarget(rule.target), action: rule.action, confidence: rule.confidence, severity: rule.severity }
      : { type: rule.type, expression: rule.expression, action: rule.action, order: rule.order, short_description: rule.shortDescription };
  return {
    id,
    kind,
    rule_ref: rule.ruleRef,
    name: rule.name,
    ...body,
    reason: rule.reason,
    labels: rule.labels,
    config: rule.config,
    expires_at: isoTime(rule.expiresAt),
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}

function ruleLine({ rule }: StoredRule): string {
  const what = 'target' in rule ? formatTarget(rule.target) : `${rule.type} ${rule.expression}`;
  const line = [rule.action, what, rule.ruleRef ?? '-', isoTime(rule.expiresAt) ?? 'no expiry', rule.name ?? ''].join('  ').trimEnd();
  // Callers wrote expression and name: no line break ends the line, nothing in them speaks to the terminal.
  return line.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

export function ruleCommands(add: AddCommand): void {
  add(
    'rule ls',
    'list the active rules of a workspace, one a line',
    (c) =>
      c
        .requiredOption('--workspace <workspace>', 'id or unique name of the workspace')
        .option('--list <list>', 'only this list')
        .option('--kind <kind>', KINDS.join(', '), oneOf('--kind', KINDS), 'access_rule'),
    {
      async run(context, _args, options) {
        const store = await context.reads();
        const workspace = await workspaceId(store, options.workspace);
        const listId = options.list === undefined ? undefined : (await findList(store, workspace, options.list)).id;
        for await (const rule of store.rules(workspace, { listId, kind: options.kind, now: Date.now() })) {
          await writeLine(context.stdout, options.json ? JSON.stringify(ruleJson(rule)) : ruleLine(rule));
        }
      },
      show: () => '',
    },
  );
}
