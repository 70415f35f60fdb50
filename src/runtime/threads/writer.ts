/** The writer thread as the main thread sees it: every write of the embedded store, and the consumer role whatever the engines are. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '../../ports/log.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { TracedLanding } from '../../ports/trace.ts';
import type { Config } from '../../settings/settings.ts';
import type { LandingReport } from '../consumer-role.ts';
import { remoteCalls } from './rpc.ts';
import { startWaiting, type WaitingThread } from './waiting-thread.ts';

/** What the writer thread works with. */
export interface WriterData {
  readonly config: Config;
  /** Counts what this process appends to the embedded stream. */
  readonly appended: SharedArrayBuffer;
}

/** What the writer thread sends unasked: a line for the log, or what has landed of a trace. */
export type WriterNews =
  | { readonly log: { readonly level: Parameters<Log>[0]; readonly message: string } }
  | { readonly traced: TracedLanding };

/** What another thread may call besides the store's writes. */
export interface WriterControl {
  /** Serves the store's writes on this port too; it is handed over. */
  connect(port: MessagePort): Promise<void>;
  /** Starts the consumer role. */
  startConsumer(): Promise<void>;
  /** How landing goes. */
  landing(): Promise<LandingReport>;
  /** Ends the consumer after its transaction, closes the files. */
  shutdown(): Promise<void>;
}

/** The writer thread; calls of it reject when it has ended. */
export interface Writer extends Pick<WriterControl, 'startConsumer' | 'landing'> {
  readonly writes: StoreWrites;
  /** A port that serves the store's writes, to hand to another thread. */
  writesPort(): MessagePort;
  /** Ends the consumer after its transaction, then the thread. */
  close(): Promise<void>;
}

/** Whether a server with this configuration needs the thread. */
export const needsWriter = ({ databaseUrl, roles }: Config): boolean => databaseUrl === undefined || roles.includes('consumer');

/** Starts a writer thread that loads its part. */
export const loadWriter = (): WaitingThread<WriterData> =>
  startWaiting(new URL('./writer.thread.ts', import.meta.url), {
    name: 'writer',
    // Far more than it needs at any time; the less it may have, the earlier garbage is collected (MB).
    resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 1024 },
  });

/** Lets a writer thread begin, which opens the store of the configuration for itself. */
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
    // As in this thread, a defect ends the process: whoever watches over it starts another. Before the first answer the start is refused.
    if (hasAnswered) throw error;
  });
  return {
    writes: remote,
    writesPort() {
      const { port1, port2 } = new MessageChannel();
      // Where the thread has ended, calls on the other port reject.
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
