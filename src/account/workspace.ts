/** The unit of tenancy: lists, rules and keys belong to one workspace. */
export interface Workspace {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: number;
}
