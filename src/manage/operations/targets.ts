/** What feeds are made for (SPEC D25.1). */
import { TARGETS, type Target } from '../../account/target.ts';
import { nullable, Type } from '../../json/schema.ts';
import { type Operation, operation } from '../operation.ts';

/** A row as JSON has it. */
export const targetJson = ([name, target]: readonly [string, Target]) => ({
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
  name: Type.String({ description: 'What a list or feed names as its target.' }),
  title: Type.String(),
  format: Type.String(),
  family: Type.String(),
  host_style: Type.String(),
  max_entries: nullable(Type.Integer({ description: 'Entries that it takes; null where no number is known.' })),
  counts: Type.Enum(['list', 'device'], { description: 'Whether that is for each list, or for all lists of the device together.' }),
  beyond: Type.String({ description: 'What it does with more.' }),
  empty: Type.String({ description: 'What an empty feed does there.' }),
  source: Type.String({ description: 'Where the number is from.' }),
  read_at: Type.String({ format: 'date', description: 'When that was read.' }),
  page: Type.String({ description: 'Its page, below docs/.' }),
});

export const TARGET_OPERATIONS: readonly Operation[] = [
  operation('listTargets', 'GET /targets', 'rules:read', {
    summary: 'Kinds of devices, with what each takes',
    description:
      'A list or feed that names one as its `target` has its format, family, host style and cap where it says nothing of its own.',
    answer: Type.Object({ targets: Type.Array(Row) }, { title: 'Targets', examples: [{ targets: [ALL_TARGETS[0]!] }] }),
    run: async () => ({ targets: ALL_TARGETS }),
  }),
];
