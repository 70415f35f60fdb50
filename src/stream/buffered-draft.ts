import type { Draft, Message, Stream } from '../ports/stream.ts';

/** For a stream that accepts messages together. */
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
