import { before } from '../../clock.ts';
import { misspeltSettings } from '../../config.ts';
import { notifySystemd, socketFrom } from '../../runtime/systemd.ts';
import { loadWriter, needsWriter } from '../../runtime/threads/writer.ts';
import type { AddCommand } from '../command.ts';

/** How long a start may continue after a signal, ms. */
const START_LIMIT = 5000;

export function serveCommand(add: AddCommand): void {
  add('serve', 'run the service until SIGTERM or SIGINT', (c) => c, {
    async run(context) {
      // Further signals change nothing: a terminal signals npm and weir, and npm forwards its own.
      const stopped = new Promise<void>((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
      });
      const { environment } = context;
      const socket = socketFrom(environment);
      for (const sentence of misspeltSettings(environment)) context.stderr.write(`weir: ${sentence}\n`);
      // Loads in parallel with the service.
      const writer = needsWriter(context.config) ? loadWriter() : undefined;
      // Other commands start faster without the HTTP stack.
      const { startService } = await import('../../service.ts');
      const starting = startService(context.config, { stdout: context.stdout, writer, socket });
      process.on('SIGHUP', () => {
        starting.then((service) => service.reload()).catch(() => undefined);
      });
      await Promise.race([starting.then(() => notifySystemd(environment, 'READY=1')), stopped]);
      await stopped;
      void notifySystemd(environment, 'STOPPING=1');
      const service = await before(starting, START_LIMIT);
      await service?.stop();
      // Ends unfinished work.
      process.exit(0);
    },
    show: () => '',
  });
}
