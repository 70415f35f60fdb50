/** SPEC D25.1. */
import { TARGETS, type Target } from '../../account/target.ts';
import { nullable, Type } from '../../json/schema.ts';
import { type Operation, operation } from '../operation.ts';

const targetJson = ([name, target]: readonly [string, Target]) => ({
  name,
  title: target.title,
  format: target.format,
  family: target.family,
  host_style: target.hostStyle,
  max_entries: target.maxEntries,
  counts: target.counts,
  beyond: target.beyond,
  empty: target.empty,
  source: target.source,
  read_at: target.readAt,
  page: target.page,
});

export const ALL_TARGETS = Object.entries(TARGETS).map(targetJson);

const Row = Type.Object({
  name: Type.String({ description: 'The value for target of a list or feed.' }),
  title: Type.String(),
  format: Type.String(),
  family: Type.String(),
  host_style: Type.String(),
  max_entries: nullable(Type.Integer({ description: 'Entries that it accepts; null: unknown.' })),
  counts: Type.Enum(['list', 'device'], { description: 'Whether the limit is per list or for all lists of the device.' }),
  beyond: Type.String({ description: 'What it does with further entries.' }),
  empty: Type.String({ description: 'What an empty feed does there.' }),
  source: Type.String({ description: 'The source of the number.' }),
  read_at: Type.String({ format: 'date', description: 'When the source was read.' }),
  page: Type.String({ description: 'Its page, below docs/.' }),
});

export const TARGET_OPERATIONS: readonly Operation[] = [
  operation('listTargets', 'GET /targets', 'rules:read', {
    summary: 'List the kinds of devices and their limits',
    description: 'A list or feed with this `target` gets its format, family, host style and limit, unless they are set.',
    answer: Type.Object({ targets: Type.Array(Row) }, { title: 'Targets', examples: [{ targets: [ALL_TARGETS[0]!] }] }),
    run: async () => ({ targets: ALL_TARGETS }),
  }),
];
