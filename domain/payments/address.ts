/** What leads from an event to its workspace: the address in `public_addresses` of a connected account, or of the installation's own (null). */
export function paymentAddress(account: string | null): string {
  return `payments:${account ?? 'own'}`;
}
