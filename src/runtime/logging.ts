import { type Logger, pino } from 'pino';

/** Secrets in a line of the log: API keys, credentials in headers, passwords in addresses. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\bweir_[\w-]{20,}/g, '[key]'],
  [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, '$1 [key]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"\\]*@/gi, '$1'],
];

/** Logs JSON lines to standard error (or `write`). Secrets are struck out of each line, whichever part of the program put them there. */
export function createLogger(level: string, write: (line: string) => void = (line) => process.stderr.write(line)): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => SECRETS.reduce((text, [secret, shown]) => text.replace(secret, shown), line) },
    },
    { write },
  );
}
