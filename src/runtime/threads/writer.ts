import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '../../ports/log.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { TracedLanding } from '../../ports/trace.ts';
import type { Config } from '../../settings/settings.ts';
import type { LandingReport } from '../consumer-role.ts';
import { remoteCalls } from './rpc.ts';
import { startWaiting, type WaitingThread } from './waiting-thread.ts';

export interface WriterData {
  readonly config: Config;
  /** Appended messages of the embedded stream. */
  readonly appended: SharedArrayBuffer;
}

/** Pushed: a log line, or a traced landing. */
export type WriterNews =
  | { readonly log: { readonly level: Parameters<Log>[0]; readonly message: string } }
  | { readonly traced: TracedLanding };

export interface WriterControl {
  /** Serves the store's writes on a transferred port. */
  connect(port: MessagePort): Promise<void>;
  startConsumer(): Promise<void>;
  landing(): Promise<LandingReport>;
  shutdown(): Promise<void>;
}

export interface Writer extends Pick<WriterControl, 'startConsumer' | 'landing'> {
  readonly writes: StoreWrites;
  writesPort(): MessagePort;
  close(): Promise<void>;
}

export const needsWriter = ({ databaseUrl, roles }: Config): boolean => databaseUrl === undefined || roles.includes('consumer');

export const loadWriter = (): WaitingThread<WriterData> =>
  startWaiting(new URL('./writer.thread.ts', import.meta.url), {
    name: 'writer',
    // MB; more than needed, but low values trigger earlier garbage collection.
    resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 1024 },
  });

export function startWriter(
  data: WriterData,
  log: Log,
  onTraced: (landing: TracedLanding) => void,
  loaded: WaitingThread<WriterData> = loadWriter(),
): Writer {
  const worker = loaded.begin(data);
  let hasAnswered = false;
  worker.on('message', (message: WriterNews | object) => {
    if ('log' in message) log(message.log.level, message.log.message);
    else if ('traced' in message) onTraced(message.traced);
    else hasAnswered = true;
  });
  const remote = remoteCalls<StoreWrites & WriterControl>(worker);
  worker.on('error', (error) => {
    // A defect ends the process, for its supervisor; before the first answer it fails the start.
    if (hasAnswered) throw error;
  });
  return {
    writes: remote,
    writesPort() {
      const { port1, port2 } = new MessageChannel();
      // After the thread's end calls on the other port reject.
      remote.connect(port1).catch(() => port1.close());
      return port2;
    },
    startConsumer: () => remote.startConsumer(),
    landing: () => remote.landing(),
    async close() {
      await remote.shutdown();
      await worker.terminate();
    },
  };
}
