/** A management call that cannot be done, with a sentence for the person who asked. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}
