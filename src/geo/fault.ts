/** A geo file that cannot be used, in one sentence for the operator. */
export class GeoFault extends Error {
  override readonly name = 'GeoFault';
}
