import { setTimeout as sleep } from 'node:timers/promises';
import { notifySystemd, socketFrom } from '../../runtime/systemd.ts';
import { loadWriter, needsWriter } from '../../runtime/threads/writer.ts';
import type { AddCommand } from '../command.ts';

/** How long a start that a signal comes into may go on, ms. */
const START_LIMIT = 5000;

export function serveCommand(add: AddCommand): void {
  add('serve', 'run the service until SIGTERM or SIGINT', (c) => c, {
    async run(context) {
      // Repeated signals change nothing: a terminal sends one to npm and to us, and npm passes its own on.
      const stopped = new Promise<void>((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
      });
      const { environment } = context;
      const socket = socketFrom(environment);
      // It loads its part while this thread loads the service.
      const writer = needsWriter(context.config) ? loadWriter() : undefined;
      // The other commands start faster without the HTTP stack.
      const { startService } = await import('../../service.ts');
      const starting = startService(context.config, { stdout: context.stdout, writer, socket });
      process.on('SIGHUP', () => {
        starting.then((service) => service.reload()).catch(() => undefined);
      });
      await Promise.race([starting.then(() => notifySystemd(environment, 'READY=1')), stopped]);
      await stopped;
      void notifySystemd(environment, 'STOPPING=1');
      const service = await Promise.race([starting, sleep(START_LIMIT)]);
      await service?.stop();
      // Whatever could not be finished in time ends here.
      process.exit(0);
    },
    show: () => '',
  });
}
