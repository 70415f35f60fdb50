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

/** Errors reject the remote call with message, code, and a cause that is no error. `transfers`: values to transfer instead of copying. */
export function serveCalls(port: MessagePort, target: object, transfers: (value: unknown) => readonly Transferable[] = () => []): void {
  port.on('message', (call: Call) => {
    void answer(target as Methods, call).then((reply) => {
      try {
        port.postMessage(reply, transfers(reply.value));
      } catch (error) {
        // A value that cannot be cloned fails the call only.
        port.postMessage(failure(call.id, error));
      }
    });
  });
}

/** Closes resources, then the port after the reply. */
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
  // Anything may be thrown, even undefined.
  const error = Object(cause) as Partial<Error> & { code?: unknown };
  const data = codeOf(error) !== undefined && !(error.cause instanceof Error) ? error.cause : undefined;
  return { id, error: { message: error.message ?? String(cause), code: error.code, cause: data } };
}

/** A proxy with all methods of T: `own` ones, else `call`. */
export function methodsOf<T extends object, O extends object = object>(
  call: (method: keyof T & string, args: unknown[]) => unknown,
  own: O = {} as O,
): T & O {
  return new Proxy(own as Record<PropertyKey, unknown>, {
    get(known, method) {
      // `await` reads `then`.
      if (typeof method === 'symbol' || method === 'then') return undefined;
      known[method] ??= (...args: unknown[]) => call(method as keyof T & string, args);
      return known[method];
    },
  }) as T & O;
}

/** Port arguments are transferred. When the thread dies, pending and later calls reject. */
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

/** The methods of a thread with the one that ends it. */
export type Served<T> = T & { shutdown(): Promise<void> };

/** `thread` starts it on demand, again after its end. `end` closes it gracefully, `kill` does not. */
export function reviving<T extends Served<object>>(start: () => Worker) {
  let running: { readonly worker: Worker; readonly methods: T } | undefined;
  const leaving = () => {
    const ending = running;
    running = undefined;
    return ending;
  };
  return {
    thread() {
      if (running !== undefined) return running;
      const worker = start();
      const started = { worker, methods: remoteCalls<T>(worker) };
      const ended = () => {
        if (running === started) running = undefined;
      };
      worker.on('error', ended).on('exit', ended);
      running = started;
      return started;
    },
    async end() {
      const ending = leaving();
      await ending?.methods.shutdown();
      await ending?.worker.terminate();
    },
    async kill() {
      await leaving()?.worker.terminate();
    },
  };
}

const isPort = (value: unknown): value is MessagePort => value instanceof MessagePort;

const isWorker = (port: MessagePort | Worker): port is Worker => 'threadId' in port;
