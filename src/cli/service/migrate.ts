import type { AddCommand } from '../command.ts';

export function migrateCommand(add: AddCommand): void {
  add('migrate', 'bring the schema of the store up to date', (c) => c, {
    async run(context) {
      // Opening the store does it.
      await context.store();
      return { up_to_date: true };
    },
    show: () => 'the schema of the store is up to date',
  });
}
