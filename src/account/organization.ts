/** inactive: signals and feeds get 402 (spec 5). */
export const SUBSCRIPTIONS = ['active', 'inactive'] as const;
export type Subscription = (typeof SUBSCRIPTIONS)[number];

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly subscription: Subscription;
  readonly createdAt: number;
}
