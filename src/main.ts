import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Files, databases above all, are private to the user.
process.umask(0o077);

// In all threads: collect garbage when it equals the live heap. By default V8 lets a heap grow fourfold, and one tenant's imports would
// take memory from others.
setFlagsFromString('--heap-growing-percent=100');
// Threads set their own size when they start; a value for the process would override it.
setFlagsFromString('--max-semi-space-size=0');

// Saves a quarter of later starts; ignored if the folder is not writable. Threads read the variable.
process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
const { runCommandLine } = await import('./cli/program.ts');

// The reader has closed the pipe (`weir rule ls | head`).
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
// After a refused start, do not wait for its threads.
if (exitCode !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
