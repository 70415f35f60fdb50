import type { Caller } from '../../account/caller.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { BouncerAnswer, BouncerRequest } from './answer.ts';

const MOST_USAGE = 256 * 1024;
export const USAGE_BODY: BodyLimit = {
  bytes: MOST_USAGE,
  tooLarge: { status: 413, message: `Usage metrics must not exceed ${MOST_USAGE / 1024} KiB` },
};
export const GOOD_KEY = jsonAnswer(200, '', { 'Cache-Control': 'no-store' });

/** Longest time without progress beyond the client's wait, ms. */
const SLACK = 30_000;

type Asked<C> = Omit<BouncerRequest, 'caller' | 'readmit'> & { readonly caller: C; readonly call: Call };

export function readBouncer<C>(call: Call, caller: C): Asked<C> {
  const { request, response, ip, query } = call;
  const { 'user-agent': userAgent = '', 'accept-encoding': acceptEncoding } = request.headers;
  const keepOpen = (ms: number) => {
    const { socket } = request;
    const { timeout = 0 } = socket;
    const line = {
      isOpen: !response.closed,
      onClose: () => {},
      end() {
        line.onClose = () => {};
        socket.setTimeout(timeout);
      },
    };
    response.once('close', () => {
      line.isOpen = false;
      line.onClose();
    });
    socket.setTimeout(ms + SLACK);
    return line;
  };
  return { caller, userAgent, address: ip, query, acceptEncoding: acceptEncoding?.toString(), keepOpen, call };
}

export const readUsage = (call: Call, caller: Caller, body: Buffer) => ({ request: readBouncer(call, caller), body });

export const decisionsFrom =
  (
    find: (request: BouncerRequest) => Promise<BouncerAnswer | HttpFault>,
    readmit: (call: Call) => Promise<HttpFault | undefined> = async () => undefined,
  ) =>
  async ({ call, ...asked }: Asked<Caller>): Promise<Answer | HttpFault> => {
    const found = await find({ ...asked, readmit: () => readmit(call) });
    return 'status' in found ? found : { ...found.answer, onSent: found.onSent };
  };
