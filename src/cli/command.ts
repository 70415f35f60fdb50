import type { Command } from 'commander';
import type { Context } from './context.ts';

/** `run` returns the value for `--json`, `show` the text. */
interface Action<T> {
  // biome-ignore lint/suspicious/noExplicitAny: commander hands options over untyped
  run(context: Context, args: string[], options: any): Promise<T>;
  show(value: T): string;
  /** Runs on the local store or at a service. */
  readonly isOperation?: true;
  /** Sends to a service. */
  readonly sends?: true;
}

/** `words`: name and arguments, such as `key revoke <id>`. */
export type AddCommand = <T>(words: string, summary: string, options: (command: Command) => Command, action: Action<T>) => void;
