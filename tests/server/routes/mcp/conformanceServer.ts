import { type CallToolResult, type ContentBlock, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';

/** A picture of one pixel, and a recording of no sound. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType: 'text/plain', text: 'This is an embedded resource content.' },
});

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

/** What the tools of the conformance suite answer. */
const ANSWERS: Record<string, CallToolResult> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [embedded('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [text('Multiple content types test:'), image, embedded('test://mixed-content-resource')],
  },
  test_error_handling: { isError: true, content: [text('This tool intentionally returns an error for testing')] },
  test_tool_with_logging: { content: [text('Logged.')] },
  test_tool_with_progress: { content: [text('Done.')] },
  json_schema_2020_12_tool: { content: [text('Taken.')] },
};
const PROMPTS = [
  'test_simple_prompt',
  'test_prompt_with_arguments',
  'test_prompt_with_embedded_resource',
  'test_prompt_with_image',
];

/**
 * The server that the conformance suite has its scenarios for, behind the service's own door: what streams, pictures, progress and
 * errors become on their way through the service is then the suite's to judge.
 */
export function conformanceServer(): Server {
  const server = new Server(
    { name: 'conformance', version: '1' },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} } },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(ANSWERS).map((name) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA : { type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'test_tool_with_logging')
      for (const line of ['started', 'processing', 'completed']) await mcpReq.log('info', `Tool execution ${line}`);
    const progressToken = mcpReq._meta?.progressToken;
    if (params.name === 'test_tool_with_progress' && progressToken !== undefined)
      for (const progress of [0, 50, 100])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return ANSWERS[params.name] ?? { isError: true, content: [text(`There is no tool ${params.name}.`)] };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: ['test://static-text', 'test://static-binary'].map((uri) => ({ uri, name: uri, description: uri })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
    if (id !== undefined)
      return {
        contents: [
          {
            uri,
            mimeType: 'application/json',
            text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
          },
        ],
      };
    if (uri !== 'test://static-text') throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: PROMPTS.map((name) => ({ name, description: `The prompt ${name}.` })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: values = {} } }) => {
    const content: Record<string, ContentBlock[]> = {
      test_simple_prompt: [text('This is a simple prompt for testing.')],
      test_prompt_with_arguments: [text(`Prompt with arguments: arg1='${values.arg1}', arg2='${values.arg2}'`)],
      test_prompt_with_embedded_resource: [embedded(String(values.resourceUri)), text('Please process it.')],
      test_prompt_with_image: [image, text('Please analyze it.')],
    };
    return { messages: (content[name] ?? []).map((each) => ({ role: 'user' as const, content: each })) };
  });
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['a'], total: 1, hasMore: false } }));
  return server;
}
