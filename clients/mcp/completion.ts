import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server';
import type { Access } from './access.ts';
import type { ServiceDocument } from './document.ts';
import { AREA_TEMPLATE } from './resources.ts';

/** Most values that the protocol takes. */
const MAX_VALUES = 100;

/** What completion reads. */
export interface CompletionSource {
  access: Access;
  document: ServiceDocument;
  signal: AbortSignal;
}

/**
 * Values for an argument of a prompt or of the template, which begin with what is typed. An id is offered for a name as well, since nobody
 * types ids. Without a credential, or for an argument of free text, there are none: a completion is a courtesy.
 */
export async function complete(
  { ref, argument, context }: CompleteRequestParams,
  source: CompletionSource,
): Promise<CompleteResult> {
  const { name, value } = argument;
  const chosen = context?.arguments ?? {};
  try {
    if (ref.type === 'ref/resource') {
      if (ref.uri !== AREA_TEMPLATE.uriTemplate || name !== 'tag') return found([]);
      const areas = await source.document.areas(source.access, source.signal);
      return found(areas.map(({ slug }) => slug).filter((slug) => slug.startsWith(value.toLowerCase())));
    }
    if (name === 'agent_id') return found(await agentIds(value, source));
    if (name === 'conversation_id') return found(await conversationIds(value, chosen.agent_id, source));
    if (name === 'model') return found(await modelIds(value, source));
    return found([]);
  } catch (error) {
    if (source.signal.aborted) throw error;
    return found([]);
  }
}

async function agentIds(value: string, { access, signal }: CompletionSource): Promise<string[]> {
  const api = await access.api();
  const isId = /^[0-9a-f-]{8,}$/i.test(value);
  const { items } = await api.call('listAgents', {
    query: { limit: MAX_VALUES, ...(value === '' || isId ? {} : { search: value }) },
    signal,
  });
  const ids = items.map(({ publicId }) => publicId);
  return isId ? ids.filter((id) => id.startsWith(value.toLowerCase())) : ids;
}

async function conversationIds(
  value: string,
  agentId: string | undefined,
  { access, signal }: CompletionSource,
): Promise<string[]> {
  const api = await access.api();
  const { items } = await api.call('listConversations', {
    query: { limit: MAX_VALUES, ...(agentId ? { agentPublicId: agentId } : {}) },
    signal,
  });
  return items.map(({ publicId }) => publicId).filter((id) => id.startsWith(value.toLowerCase()));
}

async function modelIds(value: string, { access, signal }: CompletionSource): Promise<string[]> {
  const api = await access.api();
  const models = await api.call('listAiModels', { signal });
  const typed = value.toLowerCase();
  return models
    .filter(({ name, publicId }) => name.toLowerCase().includes(typed) || publicId.startsWith(typed))
    .map(({ publicId }) => publicId);
}

function found(values: string[]): CompleteResult {
  return {
    completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES },
  };
}
