/** A receiver of webhooks that answers as a test says. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: {
    readonly id: string;
    readonly text: string;
    readonly attention: number;
    readonly changes: readonly { readonly key: string; readonly is: string; readonly state: string; readonly text: string }[];
  };
}

export interface HookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** What is said to the next messages. */
  answer: (response: ServerResponse, request: IncomingMessage) => void;
}

export const taken = (response: ServerResponse) => void response.writeHead(204).end();

export async function hookReceiver(): Promise<HookReceiver> {
  const receiver = { url: '', received: [] as Received[], answer: taken as HookReceiver['answer'] };
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    receiver.received.push({ path: request.url!, headers: request.headers, body, json: JSON.parse(body) });
    receiver.answer(response, request);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
