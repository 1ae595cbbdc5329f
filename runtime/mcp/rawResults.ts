import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

type Json = Record<string, unknown>;

/** Carries a result as the server sent it. */
const RAW = 'com.guildhall/raw';
const CACHEABLE = { ttlMs: 0, cacheScope: 'private' };
/** The least that the SDK takes for the result of each method that is called here. */
const ACCEPTED: Readonly<Record<string, Json>> = {
  'tools/list': { ...CACHEABLE, tools: [] },
  'tools/call': { content: [] },
  'resources/list': { ...CACHEABLE, resources: [] },
  'resources/templates/list': { ...CACHEABLE, resourceTemplates: [] },
  'resources/read': { ...CACHEABLE, contents: [] },
};

/** Takes the results of a connection past the SDK's checks. */
export interface RawResults {
  /** Notes the method of a request, by its id. */
  sent(id: unknown, method: string): void;
  /** The result as the server sent it. */
  of(result: Json): Json;
}

/**
 * In revision 2026-07-28 the SDK checks each result by a schema, and refuses all of it for one content of a kind to come, one tool with a
 * mistake or a list that does not say how long it is fresh. Here what is read of a result is checked where it is read, so results go
 * past those checks. Call it when the transport is connected.
 */
export function passRawResults(transport: Pick<Transport, 'onmessage'>): RawResults {
  const methods = new Map<unknown, string>();
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    deliver?.(withRaw(message, methods), extra);
  };
  return {
    sent: (id, method) => void methods.set(id, method),
    of: (result) => (Object.hasOwn(result, RAW) ? (result[RAW] as Json) : result),
  };
}

function withRaw(message: JSONRPCMessage, methods: Map<unknown, string>): JSONRPCMessage {
  if (!('id' in message) || 'method' in message) return message;
  const accepted = ACCEPTED[methods.get(message.id) ?? ''];
  methods.delete(message.id);
  if (!accepted || !('result' in message)) return message;
  const { resultType = 'complete' } = message.result as Json;
  if (resultType !== 'complete') return message;
  return { ...message, result: { resultType, ...accepted, [RAW]: message.result } } as JSONRPCMessage;
}
