import { setTimeout as sleep } from 'node:timers/promises';

const DAY = 86_400_000;
const MINUTE = 60_000;

/** For tests of what counts by days of UTC: waits for the next day where that is less than a minute away. */
export async function beforeMidnight(): Promise<void> {
  const left = DAY - (Date.now() % DAY);
  if (left < MINUTE) await sleep(left);
}
