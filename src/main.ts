/** The process: the command line, its environment, its exit code. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// What this process makes, databases above all, is its user's alone.
process.umask(0o077);

// In all threads: collected when there is as much garbage as what lives. Left alone, V8 lets a heap grow to the fourfold before it looks,
// so that what one tenant's imports leave behind is memory that others lack.
setFlagsFromString('--heap-growing-percent=100');
// What new objects may take is said for each thread where it is started: set for the process, as it is for this thread, it would hold for all.
setFlagsFromString('--max-semi-space-size=0');

// A quarter off every start but the first; where the folder cannot be written nothing is kept. Threads look at the variable.
process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
const { runCommandLine } = await import('./cli/program.ts');

// Who reads no further (`weir rule ls | head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});
process.exitCode = exitCode;
// A start that was refused does not wait for the threads that it had begun.
if (exitCode !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
