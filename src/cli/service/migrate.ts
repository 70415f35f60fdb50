import type { Command } from 'commander';
import { schemaOf } from '../../runtime/engines.ts';
import type { AddCommand } from '../command.ts';

/** Exit code of a check with missing migrations. */
const DIFFERS = 3;

const migrateOptions = (c: Command): Command =>
  c.option('--check', 'only say what would be done: exit code 0 nothing, 3 migrations, 1 the store is of a newer weir');

export function migrateCommand(add: AddCommand): void {
  add('migrate', 'bring the schema of the store up to date', migrateOptions, {
    async run(context, _, { check }: { check?: true }) {
      // Opening the store migrates it.
      if (!check) await context.store();
      const { store, weir, missing, newer } = await schemaOf(context.config);
      context.exitCode = newer.length > 0 ? 1 : missing.length > 0 ? DIFFERS : 0;
      return { up_to_date: context.exitCode === 0, store, weir, missing, newer };
    },
    show({ up_to_date, store, weir, missing, newer }) {
      if (up_to_date) return `the schema of the store is up to date: ${weir}`;
      if (newer.length > 0)
        return `the store was written by a newer weir, which this one cannot read: it has ${newer.join(', ')}, and ${weir} is known here`;
      if (store === null) return `there is no store yet: it would be made with the schema ${weir}`;
      return `the store has the schema ${store}; a start of this weir, or weir migrate, brings it to ${weir}: ${missing.join(', ')}. An older weir cannot read it then: make a backup before`;
    },
  });
}
