/**
 * Loaded into the weir of a soak with `--import`. The wall clock of all its threads goes SOAK_CLOCK (`start ms,factor`) times as fast from that
 * instant on; nothing else of time does. On SIGUSR2 every thread collects its garbage, and the main thread writes `soak` and what the threads
 * then hold (heap that is in use, and external memory, MiB) to standard error.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread, threadId, threadName } from 'node:worker_threads';

/** How long threads may take to tell, ms: a writer may be in a landing. */
const PATIENCE = 2000;

export interface Held {
  readonly thread: string;
  /** MiB. */
  readonly heap: number;
  readonly external: number;
}

const [start, factor] = (process.env.SOAK_CLOCK ?? '0,1').split(',').map(Number);
const { now } = Date;
Date.now = () => {
  const at = now();
  return at < start ? at : Math.floor(start + (at - start) * factor);
};

// Heaps grow for as long as it is cheaper than collecting: what is garbage is nobody's growth.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');
function held(): Held {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const thread = isMainThread ? 'main' : threadName || `thread ${threadId}`;
  return { thread, heap: heapUsed / 2 ** 20, external: external / 2 ** 20 };
}

const channel = new BroadcastChannel('soak');
channel.unref();
if (isMainThread) {
  let answers: Held[] = [];
  channel.onmessage = ({ data }) => {
    if (data !== 'ask') answers.push(data as Held);
  };
  process.on('SIGUSR2', () => {
    answers = [held()];
    channel.postMessage('ask');
    setTimeout(() => process.stderr.write(`soak ${JSON.stringify(answers)}\n`), PATIENCE);
  });
} else {
  channel.onmessage = ({ data }) => {
    if (data === 'ask') channel.postMessage(held());
  };
}
