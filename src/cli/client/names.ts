import type { Client } from './client.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Of lists and feeds, by id. */
export const namesOf = async (client: Client): Promise<ReadonlyMap<string, string>> =>
  new Map([...(await client.items<Named>('listLists')), ...(await client.items<Named>('listFeeds'))].map(({ id, name }) => [id, name]));
