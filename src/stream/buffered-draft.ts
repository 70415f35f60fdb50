import type { Draft, Message, Stream } from '../ports/stream.ts';

/** Buffers messages until they are published, for a stream that accepts them together. */
export function bufferedDraft(publish: Stream['publish']): Draft {
  const messages: Message[] = [];
  return {
    get length() {
      return messages.length;
    },
    push(message) {
      messages.push(message);
    },
    publish: () => publish(messages),
    discard() {},
  };
}
