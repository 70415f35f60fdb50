import type { Draft, Message, Stream } from '../ports/stream.ts';

/** A draft that holds its messages until they are published, for a stream that takes them all at once. */
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
