/** What a delivery sends. Of a recording, `key` is that in the file store. */
export type StoredDeliveryContent = { kind: 'text'; text: string } | { kind: 'audio'; key: string; mediaType: string };
