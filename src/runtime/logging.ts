import { type Logger, pino } from 'pino';
import { withoutSecrets } from '../account/secrets.ts';

/** Logs JSON lines to standard error (or `write`). Secrets are struck out of each line, whichever part of the program put them there. */
export function createLogger(level: string, write: (line: string) => void = (line) => process.stderr.write(line)): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: withoutSecrets },
    },
    { write },
  );
}
