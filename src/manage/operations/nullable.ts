import { type TSchema, Type } from 'typebox';

/** The schema of a value that may be null. */
export const nullable = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
