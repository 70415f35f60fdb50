/** The process: the command line, its environment, its exit code. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What this process makes, databases above all, is its user's alone.
process.umask(0o077);

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
