/** Writes one line of the log. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;
