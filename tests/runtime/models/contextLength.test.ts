// Longer than most: the errors of all servers that are known, word for word, in one table.
import { callModel } from '../../../runtime/models/call.ts';
import { ContextTooLong, windowExceeded } from '../../../runtime/models/contextLength.ts';
import type { Step } from '../../support/servers/modelServer.ts';
import { ask, modelOf, rejection, useModelServer, WIRES } from './support.ts';

const here = useModelServer();

/** Bodies as the servers send them, with the limit that they name. The sources are in contextLength.ts. */
const BODIES: readonly (readonly [string, number, unknown, number | undefined])[] = [
  [
    'OpenAI, chat completions',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    128_000,
  ],
  [
    'vLLM',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 24576 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    24_576,
  ],
  [
    'vLLM before 0.10, whose body is flat',
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    16_384,
  ],
  [
    'vLLM with an allowance for the answer',
    400,
    {
      error: {
        message:
          "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens.",
        code: 400,
      },
    },
    98_304,
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size. try increasing the context size',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14_429,
        n_ctx: 8_192,
      },
    },
    8_192,
  ],
  [
    'llama.cpp, as a failure of its own',
    500,
    { error: { code: 500, message: 'request (14429 tokens) exceeds the available context size (8192 tokens)' } },
    8_192,
  ],
  [
    'LM Studio, whose error is a text',
    400,
    {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    },
    4_096,
  ],
  [
    'LM Studio, older',
    400,
    {
      error:
        'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
    },
    32_768,
  ],
  [
    'TGI',
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1244 `inputs` tokens and 1000 `max_new_tokens`',
      error_type: 'validation',
    },
    2_048,
  ],
  [
    'LiteLLM',
    400,
    {
      error: {
        message:
          "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - {'error': {'message': \"This model's maximum context length is 32768 tokens. However, your request has 59360 input tokens.\"}}",
        type: null,
        param: null,
        code: '400',
      },
    },
    32_768,
  ],
  [
    'OpenRouter',
    400,
    {
      error: {
        message:
          'This endpoint\'s maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        code: 400,
        metadata: { provider_name: null },
      },
    },
    16_384,
  ],
  [
    'Groq',
    400,
    {
      error: {
        message: 'Please reduce the length of the messages or completion.',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    undefined,
  ],
  [
    'Groq, more than a minute allows',
    413,
    {
      error: {
        message:
          'Request too large for model `llama` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 8124, please reduce your message size and try again.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
    6_000,
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message:
        'Prompt contains 300000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
    131_072,
  ],
  [
    'SGLang',
    400,
    {
      object: 'error',
      message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      type: 'BadRequestError',
      code: 400,
    },
    40_960,
  ],
  ['Ollama', 400, { error: { message: 'prompt too long; exceeded max context length by 4096 tokens' } }, undefined],
  [
    'GitHub Models',
    413,
    {
      error: {
        code: 'tokens_limit_reached',
        message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
      },
    },
    8_000,
  ],
  [
    'xAI',
    400,
    { error: { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." } },
    131_072,
  ],
];

/** Texts of further servers, with the limit that they name. */
const TEXTS: readonly (readonly [string, string, number | undefined])[] = [
  [
    'Azure',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.',
    272_000,
  ],
  ['DashScope', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]', 258_048],
  ['DeepInfra', 'Requested input length 39818 exceeds maximum input length 32767', 32_767],
  ['Poolside', 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 131_040],
  ['DS4', 'Prompt has 102,400 tokens, but the configured context size is 100,000 tokens', 100_000],
  [
    'Nova',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    undefined,
  ],
  ['Bedrock', 'Too many input tokens. Max input tokens: 8192, request input token count: 10000', 8_192],
  [
    'Claude on Bedrock',
    'The model returned the following errors: prompt is too long: 227255 tokens > 200000 maximum',
    200_000,
  ],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.', 4_081],
  ['Cohere, v2', 'too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs.', undefined],
  ['Perplexity', 'The total length of all messages is too long.', undefined],
  ['Volcengine', 'Total tokens of image and text exceed max message tokens. Request id: 0217', undefined],
  ['Zhipu', 'Prompt exceeds max length', undefined],
  ['Baidu', 'error_code: 336103, error_msg: Prompt tokens too long', undefined],
  [
    'TensorRT-LLM',
    'The sum of prompt length (9000), query length (0) and max_tokens (100) should not exceed max_seq_len (8192)',
    8_192,
  ],
  ['Triton', 'Prompt length (9000) exceeds maximum input length (8192).', 8_192],
  [
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192',
    8_192,
  ],
  [
    'vLLM, of a text',
    'The decoder prompt (length 45000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller.',
    32_768,
  ],
  [
    'vLLM, of images',
    'The prompt (total length 45000) is too long to fit into the model (context length 32768). Make sure that `max_model_len` is no smaller.',
    32_768,
  ],
  ['TabbyAPI', 'Context length 5000 is greater than max_seq_len 4096', 4_096],
  ['OpenVINO', 'Number of prompt tokens: 5000 exceeds model max length: 4096', 4_096],
  ['llama.cpp, when the window is full', 'Context size has been exceeded.', undefined],
  ['LM Studio', 'Cannot truncate prompt with n_keep (10294) >= n_ctx (4096)', 4_096],
  [
    'LM Studio, in the answer',
    'Reached context length of 4096 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow.',
    4_096,
  ],
];

const local = () => modelOf(here.settings, 'openai-compatible', 'local-model');
const refusal = (status: number, body: unknown): Step => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});
const failure = async (step: Step, more = {}) => {
  here.server.script(step);
  return (await rejection(callModel(here.settings, ask(local(), more)))) as ContextTooLong;
};

describe('a request that is too long', () => {
  test.each(BODIES)('as %s says it, whole, streamed, and with status 200', async (_who, status, body, limit) => {
    for (const at of [status, 200]) {
      for (const more of [{}, { onText: () => {} }]) {
        const error = await failure(refusal(at, body), more);
        expect(error).toBeInstanceOf(ContextTooLong);
        expect(error.limit).toBe(limit);
        expect(error).toMatchObject({ code: 'MODEL_PROVIDER_ERROR', status: 502 });
      }
    }
  });

  test.each(BODIES)('as %s says it, in a stream that has begun', async (who, _status, body, limit) => {
    // The package leaves the field `n_ctx` out of the errors of a stream. Later versions have the number in the text.
    const told = who === 'llama.cpp' ? undefined : limit;
    for (const line of [`data: ${JSON.stringify(body)}\n\n`, `event: error\ndata: ${JSON.stringify(body)}\n\n`]) {
      const step: Step = { status: 200, body: line, headers: { 'content-type': 'text/event-stream' } };
      const error = await failure(step, { onText: () => {} });
      expect(error).toBeInstanceOf(ContextTooLong);
      expect(error.limit).toBe(told);
    }
  });

  const OWN: Readonly<Record<string, readonly (readonly [Step, number | undefined])[]>> = {
    openai: [
      [
        refusal(400, {
          error: {
            message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
            type: 'invalid_request_error',
            param: 'input',
            code: 'context_length_exceeded',
          },
        }),
        undefined,
      ],
      [
        {
          status: 429,
          message:
            'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.',
        },
        30_000,
      ],
    ],
    anthropic: [
      [{ status: 400, message: 'prompt is too long: 213462 tokens > 200000 maximum' }, 200_000],
      [
        {
          status: 400,
          message:
            'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
        },
        200_000,
      ],
      [{ status: 413, message: 'Request exceeds the maximum size' }, undefined],
    ],
    google: [
      [
        {
          status: 400,
          message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
        },
        1_048_575,
      ],
    ],
  };

  test.each(WIRES.filter(([provider]) => provider in OWN))('as %s says it', async (provider, modelId) => {
    for (const [step, limit] of OWN[provider] ?? []) {
      for (const more of [{}, { onText: () => {} }]) {
        here.server.script(step);
        const call = callModel(
          here.server.settings({ retries: 2 }),
          ask(modelOf(here.settings, provider, modelId), more),
        );
        const error = (await rejection(call)) as ContextTooLong;
        expect(error).toBeInstanceOf(ContextTooLong);
        expect(error.limit).toBe(limit);
      }
    }
    // None was asked again as it was.
    expect(here.server.requests).toHaveLength(2 * (OWN[provider] ?? []).length);
  });

  test.each(TEXTS)('as %s says it', (_who, text, limit) => {
    expect(windowExceeded(new Error(text), [])).toEqual({ ...(limit && { limit }), isCertain: true });
  });

  test('in an event of the Responses API', async () => {
    const failed = {
      type: 'response.failed',
      sequence_number: 2,
      response: { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' } },
    };
    const body = `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`;
    here.server.script({ status: 200, body, headers: { 'content-type': 'text/event-stream' } });
    const call = callModel(here.settings, ask(modelOf(here.settings, 'openai', 'gpt-5.4'), { onText: () => {} }));
    expect(await rejection(call)).toBeInstanceOf(ContextTooLong);
  });

  test('in Anthropic’s stop reason, when nothing was written', async () => {
    const body = JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: 'model_context_window_exceeded',
      stop_sequence: null,
      usage: { input_tokens: 200_000, output_tokens: 0 },
    });
    here.server.script({ status: 200, body, headers: { 'content-type': 'application/json' } });
    const call = callModel(here.settings, ask(modelOf(here.settings, 'anthropic', 'claude-opus-4-6')));
    expect(await rejection(call)).toBeInstanceOf(ContextTooLong);
  });

  test('names what helps', async () => {
    const [, , body] = BODIES[1] ?? [];
    expect((await failure(refusal(400, body))).message).toBe(
      'The OpenAI-compatible server finds the request longer than the context window of 24,576 tokens of local-model. Shorten the prompt of the agent or the message, or link fewer tools. If the window is not what the server has, set OPENAI_COMPATIBLE_MODELS to local-model@24576.',
    );
    here.server.script({ status: 400, message: 'prompt is too long: 213462 tokens > 200000 maximum' });
    const call = callModel(here.settings, ask(modelOf(here.settings, 'anthropic', 'claude-opus-4-6')));
    expect((await rejection(call)).message).toBe(
      'Anthropic finds the request longer than the context window of 200,000 tokens of claude-opus-4-6. Shorten the prompt of the agent or the message, or link fewer tools.',
    );
  });
});

describe('an error about something else', () => {
  test.each([
    ['a rate limit', { status: 429, message: 'Too many tokens per minute. Please reduce the length of the messages.' }],
    ['a wrong key', { status: 401, message: 'prompt is too long' }],
    ['an unknown parameter', { status: 400, message: 'max_completion_tokens is not supported' }],
    ['a failure', { status: 500, message: 'The context was lost.' }],
    ['throttling', { status: 400, message: 'Too many tokens, please wait before trying again.' }],
    ['a limit of characters', { status: 400, message: 'Text exceeds maximum input length of 1048576 characters.' }],
    [
      'a limit of the answer',
      { status: 400, message: 'max_tokens is too large: 9000. This model supports at most 8192.' },
    ],
    ['a field', { status: 400, message: "Invalid 'tools': array too long. Expected maximum length 128, got 200." }],
  ] as const)('%s is not one of length', async (_name, step) => {
    expect(await failure(step)).not.toBeInstanceOf(ContextTooLong);
  });

  test.each([
    "This model's maximum context length is 3 tokens. However, your request has 9 input tokens.",
    `Please explain: {"error":{"type":"exceed_context_size_error","n_ctx":3}}`,
  ])('one that quotes the user sets no limit: %s', async (content) => {
    for (const quoted of [`Invalid content: ${content}`, `Invalid content: ${content.slice(4)}`]) {
      const error = await failure({ status: 400, message: quoted }, { messages: [{ role: 'user', content }] });
      expect(error.limit).toBeUndefined();
    }
    const text = await failure({ status: 400, message: content }, { messages: [{ role: 'user', content }] });
    expect(text.limit).toBeUndefined();
    expect(text.message).not.toContain('3');
  });
});

test('an error with hundreds of telling texts does not keep the process from its work', () => {
  const prompt = Array.from({ length: 1_000 }, (_, n) => `${'x'.repeat(800)}${n}`);
  const error = Object.assign(new Error('Bad request.'), {
    data: Array.from({ length: 190 }, (_, n) => `prompt is too long ${n} ${'x'.repeat(7_000)}`),
  });
  const before = process.threadCpuUsage();
  expect(windowExceeded(error, prompt)).toEqual({ isCertain: true });
  // All of them took half a minute.
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(5_000);
});
