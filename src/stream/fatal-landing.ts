/** A person is needed: the stream is not the one whose positions the store holds, or has lost messages. */
export class FatalLanding extends Error {}

const ADVICE = 'Bring the old stream back, or, when its unlanded messages are given up, run: weir stream adopt';

/** The stream was deleted and created again, or the settings name another one. */
export const replacedStream = (known: string, present: string): FatalLanding =>
  new FatalLanding(
    `the store has landed the stream ${known}, but the stream here is ${present}: ` +
      `it was deleted and created again, or the settings point elsewhere. ${ADVICE}`,
  );

/** The store's position is before the stream's first message or after its last. */
export const positionOutside = (partition: number, position: number, { start, end }: { start: number; end: number }): FatalLanding =>
  new FatalLanding(
    `the store's position ${position} of partition ${partition} is outside the stream (${start} to ${end}): ` +
      `messages are missing. ${ADVICE}`,
  );
