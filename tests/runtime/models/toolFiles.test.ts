import { callModel, type ModelCall } from '../../../runtime/models/call.ts';
import type { ModelProvider } from '../../../runtime/models/catalogue.ts';
import type { ModelMessage, ToolResultPart } from '../../../runtime/models/prompt.ts';
import { MADE_ROOM, NOT_KEPT, withinFileLimits, withoutToolFiles } from '../../../runtime/models/toolFiles.ts';
import { ask, modelOf, rejection, useModelServer } from './support.ts';

const here = useModelServer();

const PNG = { mediaType: 'image/png', bytes: new Uint8Array([137, 80, 78, 71]) };
const GIF = { mediaType: 'image/gif', bytes: new Uint8Array([71, 73, 70]) };
const BASE64 = Buffer.from(PNG.bytes).toString('base64');

const called = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: 'draw', input: {} })),
});
const drawn = (id: string, more: Partial<ToolResultPart> = {}): ToolResultPart => ({
  toolCallId: id,
  toolName: 'draw',
  text: '[image 1: image/png, 1 kB]',
  isError: false,
  files: [PNG],
  ...more,
});
const conversation = (...content: ToolResultPart[]): ModelMessage[] => [
  { role: 'user', content: 'Draw.' },
  called(...content.map(({ toolCallId }) => toolCallId)),
  { role: 'tool', content },
];
const callOf = (provider: ModelProvider, modelId: string, messages: ModelMessage[], supportsImage = true): ModelCall =>
  ask({ ...modelOf(here.settings, provider, modelId), supportsImage }, { messages });

/** The part of a provider's request in which the results are. */
async function sent(provider: ModelProvider, modelId: string, messages: ModelMessage[], supportsImage?: boolean) {
  await callModel(here.settings, callOf(provider, modelId, messages, supportsImage));
  const body = here.server.requests.at(-1)?.body as Record<string, unknown[]>;
  return (body.input ?? body.messages ?? body.contents ?? []).slice(2);
}

describe('a model that sees is shown the images of a result', () => {
  test('Anthropic: within the result', async () => {
    const [results] = await sent('anthropic', 'claude-opus-4-6', conversation(drawn('a')));
    expect(results).toMatchObject({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: '[image 1: image/png, 1 kB]' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } },
          ],
        },
      ],
    });
  });

  test('OpenAI: within the output of the call', async () => {
    expect(await sent('openai', 'gpt-5.4', conversation(drawn('a')))).toMatchObject([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: '[image 1: image/png, 1 kB]' },
          { type: 'input_image', image_url: `data:image/png;base64,${BASE64}` },
        ],
      },
    ]);
  });

  test('Google: within the response of the function, and beside it for models before Gemini 3', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: BASE64 } };
    const response = { name: 'draw', response: { content: '[image 1: image/png, 1 kB]' } };
    expect(await sent('google', 'gemini-3.8-flash', conversation(drawn('a')))).toMatchObject([
      { parts: [{ functionResponse: { ...response, parts: [image] } }] },
    ]);
    const [before] = await sent('google', 'gemini-2.5-flash', conversation(drawn('a')));
    expect(before).toMatchObject({ parts: [{ functionResponse: response }, image, {}] });
  });

  test('compatible servers: in a message of the user after all results', async () => {
    const results = conversation(drawn('a'), drawn('b', { files: [GIF] }));
    expect(await sent('openai-compatible', 'local-model', results)).toMatchObject([
      { role: 'tool', tool_call_id: 'a', content: expect.stringMatching(/^\[image 1.*\n\[.*in the message after/) },
      { role: 'tool', tool_call_id: 'b', content: expect.stringContaining('in the message after the results') },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The images of the results above, in their order:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } },
          { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/gif/) } },
        ],
      },
    ]);
  });

  test('the results of a step that are in two messages stay together', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Draw.' },
      called('a', 'b'),
      { role: 'tool', content: [drawn('a')] },
      { role: 'tool', content: [drawn('b')] },
      { role: 'assistant', content: 'Two.' },
    ];
    const roles = (await sent('openai-compatible', 'local-model', messages)).map((each) => Object(each).role);
    expect(roles).toEqual(['tool', 'tool', 'user', 'assistant']);
  });

  test('an error stays an error, with its images after it', async () => {
    const [results] = await sent('anthropic', 'claude-opus-4-6', conversation(drawn('a', { isError: true })));
    expect(results).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', is_error: true }, { type: 'text' }, { type: 'image' }],
    });
  });

  test('but not types that its provider does not take', async () => {
    const [response] = await sent('google', 'gemini-3.8-flash', conversation(drawn('a', { files: [GIF] })));
    expect(JSON.stringify(response)).toContain('you cannot read their type');
    expect(JSON.stringify(response)).not.toContain('inlineData');
  });
});

test.each([
  ['openai', 'gpt-5.4'],
  ['openai-compatible', 'local-model'],
  ['anthropic', 'claude-opus-4-6'],
  ['google', 'gemini-3.8-flash'],
] as const)('a model of %s that does not see reads that there are images', async (provider, modelId) => {
  const parts = await sent(provider, modelId, conversation(drawn('a')), false);
  expect(parts).toHaveLength(1);
  expect(JSON.stringify(parts)).toContain('you read text only');
  expect(JSON.stringify(parts)).not.toContain(BASE64);
});

describe('a provider that refuses a request', () => {
  test.each([400, 413, 422, 500])('with images of tools (%i) is asked again without them', async (status) => {
    here.server.script({ status, message: "Unexpected role 'user' after role 'tool'" }, { reply: 'I see nothing.' });
    const call = callOf('openai-compatible', 'local-model', conversation(drawn('a')));
    expect(await callModel(here.settings, call)).toMatchObject({ text: 'I see nothing.', refusedFiles: true });
    expect(here.server.requests).toHaveLength(2);
    const second = JSON.stringify(here.server.requests[1]?.body);
    expect(second).toContain('the provider of the model did not take them');
    expect(second).not.toContain(BASE64);
  });

  test('without images of tools is not asked again, nor one that refuses the key', async () => {
    here.server.script({ status: 400, message: 'No.' }, { status: 401, message: 'No.' });
    const plain = callOf('openai-compatible', 'local-model', conversation(drawn('a', { files: undefined })));
    expect(await rejection(callModel(here.settings, plain))).toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
    await rejection(callModel(here.settings, callOf('openai-compatible', 'local-model', conversation(drawn('a')))));
    expect(here.server.requests).toHaveLength(2);
  });
});

describe('the images of a run', () => {
  const steps = (count: number, bytes = 10): ModelMessage[] =>
    Array.from({ length: count }, (_, at): ModelMessage[] => [
      called(`${at}`),
      { role: 'tool', content: [drawn(`${at}`, { files: [{ ...PNG, bytes: new Uint8Array(bytes) }] })] },
    ]).flat();
  const shown = (messages: readonly ModelMessage[]) =>
    messages.flatMap((message) =>
      message.role === 'tool' ? message.content.map(({ files }) => files?.length ?? 0) : [],
    );

  test('are twelve at most: the oldest make room, four at a time, and say so', () => {
    expect(shown(withinFileLimits(steps(12), 200_000))).toEqual(Array(12).fill(1));
    const thirteen = withinFileLimits(steps(13), 200_000);
    expect(shown(thirteen)).toEqual([0, 0, 0, 0, ...Array(9).fill(1)]);
    expect(JSON.stringify(thirteen[1])).toContain(MADE_ROOM.slice(1, 40));
    // What made room stays so in the next step, and nothing else changes before it is full again.
    expect(withinFileLimits([...thirteen, ...steps(3)], 200_000).slice(0, 26)).toEqual(thirteen);
  });

  test('are 12 MiB at most, and fewer for a small window', () => {
    expect(shown(withinFileLimits(steps(8, 3 * 1024 * 1024), 200_000))).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(shown(withinFileLimits(steps(5), 8_000))).toEqual([0, 0, 0, 0, 1]);
  });

  test('are left out where they are not kept', () => {
    const [, , results] = withoutToolFiles(conversation(drawn('a'), drawn('b', { files: undefined })), NOT_KEPT);
    expect(results?.content).toEqual([
      { toolCallId: 'a', toolName: 'draw', text: `[image 1: image/png, 1 kB]\n${NOT_KEPT}`, isError: false },
      { toolCallId: 'b', toolName: 'draw', text: '[image 1: image/png, 1 kB]', isError: false },
    ]);
  });
});
