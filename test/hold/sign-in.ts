/** What who has no key can take from those who sign in to the console. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const SLOW = 520;
/** Sign-ins from another address meanwhile. */
const SIGN_INS = 10;
const HEAD = 'X-Weir-Console: 1\r\nSec-Fetch-Site: same-origin\r\n';

/** 520 sign-ins that one address sends slowly, half of them chunked: sign-ins from another address, and polls. */
export const slowSignIns = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED }, async (weir) => {
    const { hostname, port, host } = new URL(weir.url);
    const neighbour = await neighbourOf(weir, settings);
    const slow: Socket[] = [];
    let signedIn = 0;
    const signIn = () =>
      new Promise<number>((resolve, reject) => {
        const body = JSON.stringify({ key: KEY, name: 'Ada' });
        const headers = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin', 'content-length': body.length };
        const asked = request(`${weir.url}/console/session`, { method: 'POST', headers, agent: false }, (answer) => {
          answer.resume().on('close', () => resolve(answer.statusCode!));
        });
        asked.on('error', reject).end(body);
      });
    const what = `${SLOW} slow sign-ins from one address`;
    const polls = await neighbour.during(what, async () => {
      for (let n = 0; n < SLOW; n += 1) {
        const socket = connect({ port: Number(port), host: hostname, localAddress: '127.0.0.21' }).on('error', () => undefined);
        slow.push(socket);
        await once(socket, 'connect');
        const body = n % 2 === 0 ? 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n' : 'Content-Length: 4096\r\n\r\n{';
        socket.write(`POST /console/session HTTP/1.1\r\nHost: ${host}\r\n${HEAD}${body}`);
      }
      for (let n = 0; n < SIGN_INS; n += 1) {
        if ((await signIn()) === 200) signedIn += 1;
        await sleep(200);
      }
    });
    for (const socket of slow) socket.destroy();
    return [
      { what: `${what}: sign-ins from another one, of ${SIGN_INS}`, figure: signedIn, limit: SIGN_INS, least: true },
      ...polls,
      neighbour.memory(what),
    ];
  });
