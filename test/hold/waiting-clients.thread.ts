/** Clients on connections of their own that wait for changes again and again, until they are told to end; then how many answers they got. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface WaitingFlood {
  readonly url: string;
  readonly keys: readonly string[];
  /** Connections per key. */
  readonly count: number;
}

const { url, keys, count } = workerData as WaitingFlood;
const { hostname, port } = new URL(url);
let answers = 0;
let first = 0;
const sockets = keys.flatMap((key) =>
  Array.from({ length: count }, (_, n) => {
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    const ask = (since: string) =>
      socket.write(
        `GET /v1/decisions/stream?wait=60&since=${since} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nUser-Agent: waiting/${n}\r\n\r\n`,
      );
    let text = '';
    socket.on('data', (chunk: string) => {
      text += chunk;
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
      if (head < 0 || text.length < head + 4 + length) return;
      const version = /^x-feed-version: (\S+)/im.exec(text)?.[1];
      text = '';
      answers += 1;
      if (++first === keys.length * count) parentPort!.postMessage('waiting');
      if (version !== undefined) ask(version);
    });
    socket.on('error', () => {});
    ask('none');
    return socket;
  }),
);
await once(parentPort!, 'message');
for (const socket of sockets) socket.destroy();
parentPort!.postMessage(answers);
