/** The database's clock in ms since 1970, as an SQL expression: every replica reads the same one. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
