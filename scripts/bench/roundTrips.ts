import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { newId } from '../../core/ids.ts';
import { handlers } from '../../generated/handlers.ts';
import { API_PREFIX, type OperationId, operations } from '../../generated/operations.ts';
import type { Figure } from './report.ts';
import { tapDatabase } from './wire.ts';
import type { World } from './world.ts';

const document = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));

/** Runs of each operation before the one that counts: by then connection, key and prepared statements are warm. */
const WARM_UP_RUNS = 2;
/** Nothing listens here: registering a server ends at once, and its tools are not found. */
const NO_SERVER = 'https://127.0.0.1:9/mcp';

type Ids = Record<string, string>;
type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** The write operations that are served. */
const WRITES = (Object.keys(handlers) as OperationId[]).filter((id) => operations[id].method !== 'GET');

/** Bodies in place of the document's first example, where that one needs something that is not made here. */
const BODIES: Partial<Record<OperationId, (ids: Ids, modelId: string) => unknown>> = {
  updateAgent: (_ids, aiModelPublicId) => ({ aiModelPublicId, systemPrompt: 'Be brief.', temperature: 0.3 }),
  updateAgentModel: (_ids, aiModelPublicId) => ({ aiModelPublicId, temperature: 0.3 }),
  createExternalMcp: () => ({ name: `Server ${newId()}`, url: NO_SERVER, authType: 'NONE' }),
  updateExternalMcp: () => ({ name: `Server ${newId()}` }),
  createTool: () => newTool(),
  linkNativeMcps: ({ connectionPublicId }) => ({ connectionPublicIds: [connectionPublicId] }),
  sendMessage: () => ({ content: 'Where is my order?' }),
  streamMessage: () => ({ content: 'Where is my order?' }),
};
/** More than one row for operations whose cost depends on what changes. */
const VARIANTS: readonly { operationId: OperationId; what: string; body: unknown }[] = [
  { operationId: 'updateAgent', what: 'description alone', body: { description: 'For orders.' } },
];

/** Kinds of link, by the segment of their path. */
const LINKS: Record<string, { parameter: string; body: (id: string) => object }> = {
  skills: { parameter: 'skillPublicId', body: (id) => ({ skillPublicId: id }) },
  'knowledge-sources': { parameter: 'knowledgeSourcePublicId', body: (id) => ({ knowledgeSourcePublicId: id }) },
  'http-tools': { parameter: 'httpToolPublicId', body: (id) => ({ httpToolPublicId: id }) },
  'external-mcps': { parameter: 'externalMcpPublicId', body: (id) => ({ externalMcpPublicId: id }) },
  'native-mcps': { parameter: 'connectionPublicId', body: (id) => ({ connectionPublicIds: [id] }) },
  'sub-agents': { parameter: 'subAgentPublicId', body: (id) => ({ subAgentPublicId: id }) },
};

function newTool(): object {
  const configuration = { method: 'GET', url: 'http://127.0.0.1:9/orders' };
  const name = `tool_${newId().slice(-12)}`;
  return { name, description: 'Looks an order up.', toolType: 'HTTP_REQUEST', configuration };
}

async function skillForm(): Promise<FormData> {
  const zip = new ZipFile();
  const text = `---\nname: skill-${newId().slice(-12)}\ndescription: Does one thing.\n---\n\nOne thing.\n`;
  zip.addBuffer(Buffer.from(text), 'SKILL.md');
  zip.end();
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await buffer(zip.outputStream))]), 'skill.zip');
  return form;
}

/** Makes what a path parameter names. */
function makers({ query, workspaceId, modelId }: World, call: Call): Record<string, (ids: Ids) => Promise<string>> {
  const publicId = async (method: string, path: string, body: unknown) =>
    String((await call(method, path, body)).publicId);
  const agent = async () => {
    const id = await publicId('POST', '/agents', { name: `Agent ${newId()}` });
    await call('PATCH', `/agents/${id}`, { aiModelPublicId: modelId });
    return id;
  };
  return {
    agentPublicId: agent,
    subAgentPublicId: agent,
    variablePublicId: ({ agentPublicId }) =>
      publicId('POST', `/agents/${agentPublicId}/prompt/variables`, {
        name: 'city',
        label: 'City',
        type: 'text_short',
      }),
    commandPublicId: ({ agentPublicId }) =>
      publicId('POST', `/agents/${agentPublicId}/commands`, { name: 'Sum up', command: 'sum-up', prompt: 'Sum up.' }),
    versionNumber: async ({ agentPublicId }) => {
      await call('POST', `/agents/${agentPublicId}/publish`, {});
      return '1';
    },
    featureKey: async () => 'follow-up',
    skillPublicId: async () => publicId('POST', '/skills', await skillForm()),
    knowledgeSourcePublicId: () =>
      publicId('POST', '/knowledge-sources', { name: `Source ${newId()}`, textContent: 'Orders leave within a day.' }),
    httpToolPublicId: () => publicId('POST', '/http-tools', newTool()),
    async externalMcpPublicId() {
      const id = await publicId('POST', '/external-mcps', BODIES.createExternalMcp?.({}, modelId));
      await query(`update external_mcps set status = 'CONNECTED', error_message = null where id = '${id}'`);
      return id;
    },
    async connectionPublicId() {
      await query(`insert into native_connections (workspace_id, id, provider, toolkit_slug, name)
        values ('${workspaceId}', '${newId()}', 'builtin', 'calculator', 'Calculator') on conflict do nothing`);
      const [row] = await query<{ id: string }>(`select id from native_connections where toolkit_slug = 'calculator'`);
      return row?.id ?? '';
    },
    conversationPublicId: async () => {
      const id = await agent();
      await call('POST', `/agents/${id}/publish`, {});
      return String((await call('POST', `/agents/${id}/messages`, { content: 'Hello.' })).conversationId);
    },
  };
}

/** What each served write operation costs in round trips to the database, with everything warm. The operations are the document's. */
export async function measureRoundTrips(world: World): Promise<Figure[]> {
  const tap = await tapDatabase(world.databaseUrl);
  // Without the work of the queue, which has statements of its own.
  const service = await world.startService({
    env: {
      DATABASE_URL: tap.url,
      GUILDHALL_ROLE: 'api',
      GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
      GUILDHALL_RATE_LIMIT: '0',
    },
  });
  const call: Call = async (method, path, body) => {
    const form = body instanceof FormData;
    const response = await fetch(service.url + API_PREFIX + path, {
      method,
      headers: { ...world.headers, ...(body === undefined || form ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : form ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text.startsWith('{') ? JSON.parse(text) : {};
  };
  const make = makers(world, call);

  /** Makes what the request needs, and returns the request. */
  const prepare = async (id: OperationId, body: unknown) => {
    const { path, method } = operations[id];
    const ids: Ids = {};
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const link = LINKS[/^\/agents\/\{\w+\}\/([\w-]+)/.exec(path)?.[1] ?? ''];
    for (const name of [...names, ...(link && !names.includes(link.parameter) ? [link.parameter] : [])]) {
      const maker = make[name];
      if (!maker) throw new Error(`The benchmark cannot make the ${name} of ${id}`);
      ids[name] = await maker(ids);
    }
    if (link && names.includes(link.parameter)) {
      await call(
        'POST',
        path
          .split('/{')
          .slice(0, 2)
          .join('/{')
          .replace('{agentPublicId}', ids.agentPublicId ?? ''),
        link.body(ids[link.parameter] ?? ''),
      );
    }
    if (path.includes('/messages')) await call('POST', `/agents/${ids.agentPublicId}/publish`, {});
    const url = path.replace(/\{(\w+)\}/g, (_whole, name) => ids[name] ?? '');
    return { method, url, body: body ?? (await bodyOf(id, ids, world.modelId)) };
  };
  const count = async (id: OperationId, what?: string, body?: unknown): Promise<Figure> => {
    let counted = 0;
    for (let run = 0; run <= WARM_UP_RUNS; run += 1) {
      const request = await prepare(id, body);
      const { roundTrips } = await tap.during(async () => void (await call(request.method, request.url, request.body)));
      counted = roundTrips;
    }
    return {
      measure: 'round-trips',
      name: what ? `${id}: ${what}` : id,
      value: counted,
      unit: '',
      note: `${operations[id].method} ${operations[id].path}`,
    };
  };

  const figures: Figure[] = [];
  try {
    for (const id of WRITES) {
      figures.push(await count(id));
      for (const { operationId, what, body } of VARIANTS)
        if (operationId === id) figures.push(await count(id, what, body));
    }
  } finally {
    await service.stop();
    await tap.close();
  }
  return figures;
}

/** The body of a request: the document's first example, with ids of what exists and with a name of its own. */
async function bodyOf(id: OperationId, ids: Ids, modelId: string): Promise<unknown> {
  if (BODIES[id]) return BODIES[id](ids, modelId);
  const { path, method } = operations[id];
  const content = document.paths[path][method.toLowerCase()].requestBody?.content;
  if (content?.['multipart/form-data'] && !content['application/json']) return skillForm();
  const [example] = Object.values(content?.['application/json']?.examples ?? {}) as { value: Ids }[];
  if (!example) return undefined;
  const body = { ...example.value };
  for (const name of Object.keys(body)) {
    if (ids[name]) body[name] = ids[name];
    if (name === 'name' && id !== 'createVariable') body[name] = `n-${newId().slice(-12)}`;
  }
  return body;
}
