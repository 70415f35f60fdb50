/** The process: the command line, its environment, its exit code. */
import { runCommandLine } from './cli/program.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});
