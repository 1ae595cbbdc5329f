import { isDeepStrictEqual } from 'node:util';
import { BUILTIN_MODEL } from '../../runtime/models/catalogue.ts';
import { callApi, type Guildhall } from './service.ts';

/** What a generated client has to do, in this order. */
export const STEPS = [
  'create',
  'list',
  'patch',
  'patchNested',
  'publish',
  'upload',
  'uploadWithMetadata',
  'send',
  'readBack',
  'attach',
  'stream',
  'error',
] as const;
export type Step = (typeof STEPS)[number];

/** What a program reads from its environment, and what the service must hold after it. */
export interface Scene {
  env: Record<string, string>;
  /** Compares a step with the state of the service. `values` are what the program printed. Throws when they differ. */
  verify: Record<Step, (values: string[]) => Promise<void>>;
}

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
/** The text of the file that programs upload and attach. */
const FILE_TEXT = 'Goods can be returned within 30 days.';
const QUESTION = 'Where is order 42?';

/** Makes what one program works on, so that no program sees the rows of another. `name` begins the names of these rows. */
export async function prepareScene(guildhall: Guildhall, name: string): Promise<Scene> {
  const call = (method: string, path: string, body?: object) => callApi(guildhall, method, path, body);
  const listed: string[] = [];
  const categories = [`${name}-a`, `${name}-b`];
  for (const [index, tags] of [[categories[0]], [categories[1]], categories, ['elsewhere']].entries()) {
    const agent = await call('POST', '/agents', { name: `${name} listed ${index}`, categories: tags });
    if (index < 3) listed.unshift(String(agent.publicId));
  }
  await call('POST', '/agents', { name: `${name} not found`, categories });

  const patched = await call('POST', '/agents', { name: `${name} patched`, categories: ['kept', 'kept too'] });
  const agentPath = `/agents/${patched.publicId}`;
  const agentBefore = await call('PATCH', agentPath, {
    aiModelPublicId: BUILTIN_MODEL.publicId,
    systemPrompt: 'Keep this.',
    webSearchEnabled: true,
  });
  const { publicId: replyingAgent } = await call('POST', '/agents', { name: `${name} published` });
  const toolBefore = await call('POST', '/http-tools', {
    name: `${name}_tool`.replaceAll(/[^a-z_]/g, '_'),
    toolType: 'HTTP_REQUEST',
    configuration: {
      method: 'POST',
      url: 'https://shop.example/orders',
      headers: { 'X-Kept': 'kept' },
      inputSchema: { type: 'object', required: ['number'], properties: { number: { type: 'string', enum: ['1'] } } },
    },
  });
  const toolPath = `/http-tools/${toolBefore.publicId}`;

  const sent = async ([conversationId]: string[]) => {
    const page = await call('GET', `/conversations/${conversationId}/messages`);
    return page.items as { role: string; content: string }[];
  };
  return {
    env: {
      GUILDHALL_ORIGIN: guildhall.origin,
      GUILDHALL_KEY: guildhall.apiKey,
      SCENE: name,
      PATCHED_AGENT: String(patched.publicId),
      PATCHED_TOOL: String(toolBefore.publicId),
      REPLYING_AGENT: String(replyingAgent),
      MODEL: BUILTIN_MODEL.publicId,
      UNKNOWN_AGENT: UNKNOWN_ID,
      FILE_TEXT,
      SKILL_TEXT: `---\nname: ${name}-skill\ndescription: How to answer questions about returns.\n---\n${FILE_TEXT}\n`,
      QUESTION,
    },
    verify: {
      async create([publicId]) {
        const agent = await call('GET', `/agents/${publicId}`);
        expectEqual([agent.name, agent.categories], [`${name} created`, ['one', 'two']]);
      },
      async list([total, ...ids]) {
        expectEqual([total, ids], ['3', listed.slice(0, 2)]);
      },
      async patch() {
        const { updatedAt: _, ...agent } = await call('GET', agentPath);
        const { updatedAt: _before, ...before } = agentBefore;
        expectEqual(agent, { ...before, description: 'Changed.' });
      },
      async patchNested() {
        const { updatedAt: _, ...tool } = await call('GET', toolPath);
        const { updatedAt: _before, ...before } = toolBefore;
        expectEqual(tool, { ...before, requiresApproval: true });
      },
      async publish([status]) {
        const agent = await call('GET', `/agents/${replyingAgent}`);
        const { notes } = await call('GET', `/agents/${replyingAgent}/versions/published`);
        expectEqual(
          [agent.status, status, agent.aiModelPublicId, notes],
          ['active', 'active', BUILTIN_MODEL.publicId, 'First version'],
        );
      },
      async upload([publicId]) {
        const skill = await call('GET', `/skills/${publicId}`);
        expectEqual(skill.name, `${name}-skill`);
      },
      async uploadWithMetadata([publicId]) {
        const source = await call('GET', `/knowledge-sources/${publicId}`);
        expectEqual([source.name, source.sourceType], [`${name} returns`, 'FILE_UPLOAD']);
      },
      async send(values) {
        const messages = await sent(values);
        expectEqual(messages.map(({ role }) => role).toSorted(), ['assistant', 'user']);
        expectEqual(messages.find(({ role }) => role === 'user')?.content, QUESTION);
        expectEqual(oneLine(values[1]), oneLine(messages.find(({ role }) => role === 'assistant')?.content));
      },
      async readBack([conversationId, ...texts]) {
        const messages = await sent([String(conversationId)]);
        expectEqual(messages.length, 2);
        expectEqual(
          texts.map(oneLine),
          messages.map(({ content }) => oneLine(content)),
        );
      },
      // Programs send the attachment without a text: the service refuses a message that has lost it.
      async attach(values) {
        const messages = await sent(values);
        expectEqual(messages.map(({ role }) => role).toSorted(), ['assistant', 'user']);
      },
      async stream(values) {
        await this.send(values);
      },
      async error([code]) {
        expectEqual(code, 'AGENT_NOT_FOUND');
      },
    },
  };
}

/** Programs print a text as one line. */
function oneLine(text: string | undefined): string | undefined {
  return text?.replaceAll(/\s+/g, ' ').trim();
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const differing =
    isRecord(actual) && isRecord(expected)
      ? [...new Set([...Object.keys(actual), ...Object.keys(expected)])].filter(
          (key) => !isDeepStrictEqual(actual[key], expected[key]),
        )
      : [];
  const shown = (value: unknown) =>
    JSON.stringify(
      isRecord(value) ? Object.fromEntries(differing.map((key) => [key, value[key] ?? null])) : (value ?? null),
    );
  throw new Error(`The service holds ${shown(actual)}, not ${shown(expected)}.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
