/** SPEC D31.6. */
import { type Fields, nullable, Type } from '../../json/schema.ts';

export const HITS: Fields = {
  hits: [18_211, 'Packets and requests that bouncers reported as dropped in 30 days.'],
  hit_bytes: 1_102_933,
  last_hit: ['2026-11-23', nullable(Type.String({ description: 'The last day (UTC) with a hit.' }))],
};
