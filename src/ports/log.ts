/** Writes one line of the log. */
export type Log = (level: 'info' | 'warn' | 'error', message: string) => void;
