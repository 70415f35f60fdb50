/**
 * Runs the benchmarks, one after the other: `npm run bench`. Those about hostile and clumsy clients are run by `npm run test:hold`, those of
 * bouncers and followers, which wait for a minute, of the console, and the long ones (soak.ts, ten-times.ts) by hand.
 */
import { spawnSync } from 'node:child_process';

const COMMANDS: readonly (readonly string[])[] = [
  ['networks.ts'],
  ['expressions.ts'],
  ['evaluate.ts'],
  ['feed.ts', '--rounds', '3'],
  ['rebuild.ts', '--rounds', '3'],
  ['replace.ts', '--rounds', '3'],
  ['sources.ts', '--rounds', '3'],
  ['sources-many.ts', '--sources', '200'],
  ['webhooks.ts'],
  ['worth.ts'],
  ['ingest.ts', '--seconds', '5'],
  ['expiry.ts', '--seconds', '10'],
  ['footprint.ts'],
  ['fleet.ts', '--rounds', '1'],
  ['reuse-port.ts', '--rounds', '2'],
  ['changing.ts', '--seconds', '15'],
  ['agents.ts', '--seconds', '10'],
  ['metrics.ts', '--seconds', '10'],
  ['apply.ts'],
  ['postgres.ts'],
];

const seconds = (since: number) => Math.round((performance.now() - since) / 1000);
const begun = performance.now();
let failed = 0;
for (const [file, ...args] of COMMANDS) {
  console.log(`\n=== node bench/${[file, ...args].join(' ')}`);
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [new URL(file, import.meta.url).pathname, ...args], { stdio: 'inherit' });
  console.log(`(${seconds(started)} s)`);
  if (status !== 0) failed += 1;
}
console.log(`\n${COMMANDS.length - failed} of ${COMMANDS.length} benchmarks ran, ${seconds(begun)} s`);
process.exitCode = failed === 0 ? 0 : 1;
