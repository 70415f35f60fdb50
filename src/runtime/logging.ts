import { type Logger, pino } from 'pino';
import { withoutSecrets } from '../account/secrets/in-text.ts';

const toStandardError = (line: string): void => void process.stderr.write(line);

/** JSON lines to standard error (or `write`), without secrets: those with a known form, and the `given` ones. */
export function createLogger(level: string, write = toStandardError, given: readonly string[] = []): Logger {
  const inJson = given.map((secret) => JSON.stringify(secret).slice(1, -1));
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => withoutSecrets(inJson.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), line)) },
    },
    { write },
  );
}
