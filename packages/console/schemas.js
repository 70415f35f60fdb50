/** weir writes this module from the schemas of its operations (src/http/console/tables.ts). Here is its type. */

/** @type {Record<string, SchemaField[]>} Fields of an operation by its name. */
export const SCHEMAS = {};
