/** `remove_query_args`: splits at `&`, compares undecoded names. */
import type { ByteString } from '../../bytes.ts';

export function compileRemoveArguments(names: readonly ByteString[]): (query: ByteString) => ByteString {
  const removed = new Set(names);
  return (query) =>
    query
      .split('&')
      .filter((argument) => !removed.has(nameOf(argument)))
      .join('&');
}

function nameOf(argument: ByteString): ByteString {
  const equals = argument.indexOf('=');
  return equals === -1 ? argument : argument.slice(0, equals);
}
