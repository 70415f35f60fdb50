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

export function readBouncer<C>({ request, ip, query }: Call, caller: C): Omit<BouncerRequest, 'caller'> & { readonly caller: C } {
  const { 'user-agent': userAgent = '', 'accept-encoding': acceptEncoding } = request.headers;
  return { caller, userAgent, address: ip, query, acceptEncoding: acceptEncoding?.toString() };
}

export const readUsage = (call: Call, caller: Caller, body: Buffer) => ({ request: readBouncer(call, caller), body });

export const decisionsFrom =
  (find: (request: BouncerRequest) => Promise<BouncerAnswer | HttpFault>) =>
  async (asked: BouncerRequest): Promise<Answer | HttpFault> => {
    const found = await find(asked);
    return 'status' in found ? found : { ...found.answer, onSent: found.onSent };
  };
