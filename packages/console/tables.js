/** weir writes this module from its own tables (src/http/console/tables.ts). Here are its types. */

/** @type {string[]} */
export const FORMATS = [];
/** @type {string[]} */
export const FAMILIES = [];
/** @type {string[]} */
export const ACTIONS = [];
/** @type {string[]} Of confidence and severity. */
export const LEVELS = [];
/** @type {Record<string, string[]>} By the kind of a rule. */
export const RULE_ACTIONS = {};
/** @type {Record<string, string[]>} Permissions that a permission includes. */
export const IMPLIED = {};
/** @type {(Option & { whole: boolean })[]} `whole`: not for keys bound to a list or feed. */
export const PERMISSIONS = [];
/** @type {(Option & { permissions: string[] })[]} */
export const ROLES = [];
/** @type {string[]} What events of the audit log begin with. */
export const EVENTS = [];
