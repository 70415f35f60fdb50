import { MessagePort, type Transferable, type Worker } from 'node:worker_threads';
import { codeOf } from '../../errors.ts';

type Methods = Record<string, (...args: never[]) => unknown>;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: unknown[];
}
interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code: unknown; readonly cause: unknown };
}

/**
 * Answers the calls that arrive on a port with the methods of `target`. A method that throws rejects the call on the other side,
 * with its message and code, and with its cause unless that is an error. What `transfers` names of a value is handed over instead of copied.
 */
export function serveCalls(port: MessagePort, target: object, transfers: (value: unknown) => readonly Transferable[] = () => []): void {
  port.on('message', (call: Call) => {
    void answer(target as Methods, call).then((reply) => {
      try {
        port.postMessage(reply, transfers(reply.value));
      } catch (error) {
        // A value that cannot be handed over is the call's failure, not the thread's end.
        port.postMessage(failure(call.id, error));
      }
    });
  });
}

/** The method that ends a thread: closes what it has open, and the port once it has answered. */
export const shutdownBy = (port: MessagePort, close: () => Promise<void>) => async (): Promise<void> => {
  await close();
  setImmediate(() => port.close());
};

async function answer(target: Methods, call: Call): Promise<Reply> {
  try {
    return { id: call.id, value: await target[call.method](...(call.args as never[])) };
  } catch (error) {
    return failure(call.id, error);
  }
}

function failure(id: number, cause: unknown): Reply {
  // Anything can be thrown, also undefined.
  const error = Object(cause) as Partial<Error> & { code?: unknown };
  const data = codeOf(error) !== undefined && !(error.cause instanceof Error) ? error.cause : undefined;
  return { id, error: { message: error.message ?? String(cause), code: error.code, cause: data } };
}

/** An object with every method of T, whose calls `call` makes, but for those that `own` has itself. Nobody lists them: the type does. */
export function methodsOf<T extends object, O extends object = object>(
  call: (method: keyof T & string, args: unknown[]) => unknown,
  own: O = {} as O,
): T & O {
  return new Proxy(own as Record<PropertyKey, unknown>, {
    get(known, method) {
      // What is awaited is asked for its `then`.
      if (typeof method === 'symbol' || method === 'then') return undefined;
      known[method] ??= (...args: unknown[]) => call(method as keyof T & string, args);
      return known[method];
    },
  }) as T & O;
}

/**
 * The caller's side of `serveCalls`: a call of any method of T is posted, and resolves with the reply. A port among the arguments is
 * handed over. When the thread behind the port dies, open and later calls reject.
 */
export function remoteCalls<T extends object>(port: MessagePort | Worker): T {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let next = 0;
  let dead: Error | undefined;
  const die = (error: Error) => {
    dead ??= error;
    for (const call of open.values()) call.reject(dead);
    open.clear();
  };
  port.on('message', (reply: Reply) => {
    const call = open.get(reply.id);
    if (call === undefined) return;
    open.delete(reply.id);
    if (reply.error === undefined) call.resolve(reply.value);
    else call.reject(Object.assign(new Error(reply.error.message, { cause: reply.error.cause }), { code: reply.error.code }));
  });
  port.on('error', (error: Error) => die(error));
  port.on(isWorker(port) ? 'exit' : 'close', () => die(new Error('the thread has ended')));
  return methodsOf<T>(
    (method, args) =>
      new Promise((resolve, reject) => {
        if (dead !== undefined) return reject(dead);
        next += 1;
        open.set(next, { resolve, reject });
        port.postMessage({ id: next, method, args } satisfies Call, args.filter(isPort));
      }),
  );
}

/** A thread by its methods: `thread` starts it when it is asked for, and again when it has ended. `end` lets it close what it has open. */
export function reviving<T extends { shutdown(): Promise<void> }>(start: () => Worker) {
  let running: { readonly worker: Worker; readonly methods: T } | undefined;
  return {
    thread() {
      if (running !== undefined) return running.methods;
      const worker = start();
      const started = { worker, methods: remoteCalls<T>(worker) };
      const ended = () => {
        if (running === started) running = undefined;
      };
      worker.on('error', ended).on('exit', ended);
      running = started;
      return started.methods;
    },
    async end() {
      const ending = running;
      running = undefined;
      await ending?.methods.shutdown();
      await ending?.worker.terminate();
    },
  };
}

const isPort = (value: unknown): value is MessagePort => value instanceof MessagePort;

const isWorker = (port: MessagePort | Worker): port is Worker => 'threadId' in port;
