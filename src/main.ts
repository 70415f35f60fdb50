/** The process: the command line, its environment, its exit code. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// A quarter off every start but the first; where the folder cannot be written nothing is kept. Threads look at the variable.
process.env.NODE_COMPILE_CACHE ||= fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);
const { runCommandLine } = await import('./cli/program.ts');

// Who reads no further (`weir rule ls | head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});
