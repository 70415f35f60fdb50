import type { Command } from 'commander';
import type { Context } from './context.ts';

/** `run` returns the value that `--json` prints, `show` the text for people. */
interface Action<T> {
  // biome-ignore lint/suspicious/noExplicitAny: commander hands options over untyped
  run(context: Context, args: string[], options: any): Promise<T>;
  show(value: T): string;
  /** Whether it is an operation of management, which runs on the store of this machine or at a service. */
  readonly isOperation?: true;
  /** Whether it sends to a service by itself. */
  readonly sends?: true;
}

/** Adds one command: `words` is its path and arguments, such as `key revoke <id>`. */
export type AddCommand = <T>(words: string, summary: string, options: (command: Command) => Command, action: Action<T>) => void;
