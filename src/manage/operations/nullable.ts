import type { TSchema } from 'typebox';
import { Type } from '../../json-schema.ts';

/** The schema of a value that may be null. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
