/** `weir source catalogue`: lists that are known well enough to be added by a name. */

import { WeirError } from '../../errors.ts';
import { catalogueJson } from '../../manage/operations/sources/catalogue.ts';
import { CATALOGUE, findCatalogue } from '../../source/catalogue.ts';
import { durationText } from '../../text/duration.ts';
import type { AddCommand } from '../command.ts';
import { table } from '../context.ts';

export function catalogueCommand(add: AddCommand): void {
  add(
    'source catalogue [name]',
    'list what can be added by its name, or tell all about one: address, terms, what to know before',
    (c) => c,
    {
      run: async (_context, [name]) => {
        if (name === undefined) return CATALOGUE.map(catalogueJson);
        const row = findCatalogue(name);
        if (row === undefined)
          throw new WeirError('USAGE', `there is no ${name} in the catalogue: weir source catalogue lists what there is`);
        return [catalogueJson(row)];
      },
      show: (rows) => (rows.length === 1 ? oneText(rows[0]!) : table(['NAME', 'FOR', 'EVERY', 'WHAT'], rows, lineOf)),
    },
  );
}

type Shown = ReturnType<typeof catalogueJson>;

const lineOf = ({ name, purpose, every, title }: Shown) => [name, purpose, durationText(every), title];

function oneText(row: Shown): string {
  const lines: readonly (readonly [string, string | null])[] = [
    [row.name, row.title],
    ['address', row.url],
    ['for', row.purpose],
    ['entries at', row.paths.length === 0 ? null : [...row.paths, ...(row.where === null ? [] : [`where ${row.where}`])].join(', ')],
    ['every', `${durationText(row.every)}, at most every ${durationText(row.least)}`],
    ['terms', row.terms],
    ['networks', `no wider than /${row.min_prefix_v4} (IPv4) and /${row.min_prefix_v6} (IPv6)`],
    ['empty', row.may_be_empty ? 'it may be' : null],
    ['note', row.note],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.flatMap(([name, text]) => (text === null ? [] : [`${name.padEnd(width)}  ${text}`])).join('\n');
}
