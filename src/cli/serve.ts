import { startService } from '../service.ts';
import type { AddCommand } from './program.ts';

export function serveCommand(add: AddCommand): void {
  add('serve', 'run the service until SIGTERM or SIGINT', (c) => c, {
    async run(context) {
      const service = await startService(context.config, { stdout: context.stdout });
      process.on('SIGHUP', () => void service.reload());
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
      });
      await service.stop();
    },
    show: () => '',
  });
  add('migrate', 'bring the schema of the store up to date', (c) => c, {
    async run(context) {
      const { applied } = await (await context.store()).migrate();
      return { up_to_date: true, applied };
    },
    show: () => 'the schema of the store is up to date',
  });
}
