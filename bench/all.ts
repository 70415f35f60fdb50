/** Runs every benchmark, one after the other: `npm run bench`. Under ten minutes on two cores. */
import { spawnSync } from 'node:child_process';

const COMMANDS: readonly (readonly string[])[] = [
  ['networks.ts'],
  ['expressions.ts'],
  ['feed.ts'],
  ['rebuild.ts'],
  ['ingest.ts', '--seconds', '30'],
  ['expiry.ts', '--seconds', '15'],
  ['footprint.ts'],
  ['fleet.ts', '--seconds', '60'],
  ['postgres.ts'],
];

const begun = performance.now();
let failed = 0;
for (const [file, ...args] of COMMANDS) {
  console.log(`\n=== node bench/${[file, ...args].join(' ')}`);
  const { status } = spawnSync(process.execPath, [new URL(file, import.meta.url).pathname, ...args], { stdio: 'inherit' });
  if (status !== 0) failed += 1;
}
console.log(`\n${COMMANDS.length - failed} of ${COMMANDS.length} benchmarks ran, ${Math.round((performance.now() - begun) / 1000)} s`);
process.exitCode = failed === 0 ? 0 : 1;
