/** `weir target`. */
import { ALL_TARGETS } from '../../manage/operations/targets.ts';
import type { AddCommand } from '../command.ts';
import { table } from '../context.ts';
import { noOptions } from '../usage.ts';

export function targetCommands(add: AddCommand): void {
  add('target ls', 'list the kinds of devices that feeds are made for, and what each takes', noOptions, {
    run: async () => ALL_TARGETS,
    show: (rows) =>
      table(['NAME', 'DEVICE', 'ENTRIES', 'OF', 'FORMAT', 'FAMILY', 'STYLE', 'MORE', 'FROM'], rows, (row) => [
        row.name,
        row.title,
        row.max_entries ?? 'unknown',
        row.counts,
        row.format,
        row.family,
        row.host_style,
        row.beyond,
        `${row.source} (${row.read_at})`,
      ]),
  });
}
