/** Composition of a process: components close in reverse order of opening. */
import type { Logger } from 'pino';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';

export type Close = () => Promise<void> | void;

export interface Common {
  readonly config: Config;
  readonly logger: Logger;
  readonly log: Log;
  readonly onStop: (close: Close) => void;
}
