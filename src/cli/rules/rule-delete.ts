/** `weir rule delete`: the rules that meet every given condition. */

import type { Command } from 'commander';
import { operate } from '../../manage/operate.ts';
import { deletions } from '../../manage/rules/rule-deletion.ts';
import { plural } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { asked, conditionOptions } from './conditions.ts';
import { asOperator, chosenRules, noting, operatedJson, waiting } from './rule-operations.ts';
import { ruleLine } from './rules.ts';

const SAMPLE = 10;

const ruleDeleteOptions = (c: Command): Command => conditionOptions(c).option('--yes', 'do it without asking');

export function ruleDeleteCommand(add: AddCommand): void {
  add('rule delete', 'delete the active rules that meet every given condition', ruleDeleteOptions, {
    async run(context, _args, options) {
      const { ports, workspace, rules, leftOut: left_out } = await chosenRules(context, options);
      if (rules.length === 0) return { deleted: 0, left_out, unlanded: 0, batch_id: null };
      const sample = rules.slice(0, SAMPLE).map((rule) => `  ${ruleLine(rule)}`);
      await confirm(context, [`deleting ${plural(rules.length, 'rule')}${kept(left_out)}`, ...sample].join('\n'), options.yes);
      const note = await noting(context, workspace);
      const done = await operate(ports, asOperator(context, workspace), deletions(rules));
      await note('rules deleted', done.batches, { ...asked(options), rules: rules.length });
      return { deleted: rules.length, left_out, ...operatedJson(done) };
    },
    show: ({ deleted, left_out, batch_id, unlanded }) =>
      deleted === 0
        ? `no rule meets these conditions${kept(left_out)}`
        : `${plural(deleted, 'rule')} deleted by ${batch_id}${waiting({ unlanded })}${kept(left_out)}`,
  });
}

/** Rules that stay, because sources keep them. */
const kept = (leftOut: number) => (leftOut === 0 ? '' : `; ${leftOut} more stay, because sources keep them`);
