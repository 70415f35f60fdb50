/** What codes of hosts can take from others: one tenant creates them, and a stranger guesses them and fetches scripts. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { newTenant } from '../support/command.ts';
import { ask, bearer } from '../support/http.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const AT_ONCE = 200;
/** Hosts of another tenant that enrol meanwhile. */
const HOSTS = 10;
const ELSEWHERE = '127.0.0.31';

/** 200 requests at once: codes are created, guessed, and scripts fetched; polls, and hosts of another tenant. */
export const enrolmentFlood = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const { url } = weir;
    const permissions = ['keys:write', 'feed:read'].flatMap((each) => ['--permission', each]);
    const [{ key }, other] = [
      await newTenant({ ...settings }, { organization: 'default', workspace: 'flood' }, ...permissions),
      await newTenant({ ...settings }, { organization: 'default', workspace: 'hosts' }, ...permissions),
    ];
    const neighbour = await neighbourOf(weir, settings);
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, localAddress: ELSEWHERE } as object);
    const enrolment = JSON.stringify({ name: 'gw', feed: 'default' });
    const flooded = (method: string, path: string, body = '') =>
      new Promise<void>((resolve) => {
        const headers = { ...bearer(key), 'content-length': body.length };
        const asked = request(url + path, { method, agent, headers }, (answer) => answer.resume().on('close', resolve));
        asked.on('error', () => resolve()).end(body);
      });
    const kinds = [
      () => flooded('POST', '/v1/manage/enrolments', enrolment),
      () => flooded('POST', `/enroll/${randomBytes(24).toString('base64url')}`),
      () => flooded('GET', `/enroll/${randomBytes(24).toString('base64url')}`),
    ];
    let [isOver, sent, enrolled] = [false, 0, 0];
    const one = async (n: number) => {
      for (; !isOver; sent += 1) await kinds[n % kinds.length]!();
    };
    const enrol = async () => {
      const made = await ask(url, '/v1/manage/enrolments', { method: 'POST', headers: bearer(other.key), body: enrolment });
      const { code } = JSON.parse(made.text) as { code?: string };
      return code !== undefined && (await ask(url, `/enroll/${code}`, { method: 'POST' })).status === 200;
    };
    const what = `${AT_ONCE} at once that create and guess enrolment codes and fetch scripts`;
    const polls = await neighbour.during(what, async () => {
      const flooding = Array.from({ length: AT_ONCE }, (_, n) => one(n));
      for (let n = 0; n < HOSTS; n += 1) {
        if (await enrol()) enrolled += 1;
        await sleep(200);
      }
      isOver = true;
      await Promise.all(flooding);
    });
    agent.destroy();
    return [
      { what: `${what}: hosts of another tenant that enrol, of ${HOSTS}`, figure: enrolled, limit: HOSTS, least: true },
      { what: `${what}: requests`, figure: sent, limit: AT_ONCE, least: true },
      ...polls,
      neighbour.memory(what),
    ];
  });
