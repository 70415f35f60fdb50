/** How the parts of a process are put together: each says what it needs and gives; what it opens is closed in the reverse order. */
import type { Logger } from 'pino';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';

/** Closes what a part has opened. */
export type Close = () => Promise<void> | void;

/** What every part is told. */
export interface Common {
  readonly config: Config;
  readonly logger: Logger;
  readonly log: Log;
  /** Keeps what closes something that has been opened. */
  readonly onStop: (close: Close) => void;
}
