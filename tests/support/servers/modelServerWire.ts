// Long because it is four wire formats side by side, to be read against each other.
/** The API of a request, by its path. */
export type Wire = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google';

/** A tool call in a reply; `arguments` is JSON text and leaves the server split over several chunks. */
export type ScriptedToolCall = { id: string; name: string; arguments: string };

/** What one answer consists of, before it is put into a wire format. */
export type Answer = {
  model: string;
  thinking: string;
  /** The thoughts are not shown: what goes back of them is encrypted alone. */
  withheld: boolean;
  toolCalls: readonly ScriptedToolCall[];
  usage: { input: number; output: number; cached: number; written: number; reasoning: number };
  /** `length` = cut by the provider's own limit. */
  finish: 'stop' | 'length' | 'tool-calls';
};

const PATHS: readonly (readonly [RegExp, Wire])[] = [
  [/\/chat\/completions$/, 'openai-chat'],
  [/\/responses$/, 'openai-responses'],
  [/\/messages$/, 'anthropic'],
  [/:(streamGenerateContent|generateContent)$/, 'google'],
];

/** The wire format of a path without its query, or undefined for an address that no provider has. */
export function wireOf(path: string): Wire | undefined {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1];
}

/** One streamed answer as the pieces in which it leaves: `open`, `text` for each delta, then `close`. */
export type Encoder = { open: string; text: (delta: string) => string; close: (whole: string) => string };

/** What the providers put with thoughts, to be given back unchanged: a signature, or the thoughts encrypted. */
export const SIGNATURES = {
  'openai-responses': 'gAAAAA-encrypted-thoughts',
  anthropic: 'c2lnbmVk',
  'anthropic withheld': 'cmVkYWN0ZWQ=',
  google: 'dGhvdWdodA==',
} as const;

const CREATED = 1_790_000_000;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [field: string]: unknown }): string => `event: ${value.type}\n${data(value)}`;
const thinks = ({ thinking, withheld }: Answer): boolean => thinking !== '' || withheld;

/** Providers that send arguments as JSON have no other way to send what is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const halves = (text: string): string[] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];

function chatUsage({ usage }: Answer) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

const CHAT_FINISH = { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls' } as const;

// https://platform.openai.com/docs/api-reference/chat-streaming
function chatEncoder(answer: Answer): Encoder {
  const chunk = (choices: unknown[], usage?: unknown) =>
    data({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: answer.model,
      choices,
      ...(usage === undefined ? {} : { usage }),
    });
  const delta = (value: unknown, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, finish_reason: finish }]);
  return {
    open:
      delta({ role: 'assistant', content: '' }) +
      (answer.thinking && !answer.withheld ? delta({ reasoning_content: answer.thinking }) : ''),
    text: (text) => delta({ content: text }),
    close: () =>
      answer.toolCalls
        .map((call, index) => {
          const [first, second] = halves(call.arguments);
          return (
            delta({
              tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: first } }],
            }) + delta({ tool_calls: [{ index, function: { arguments: second } }] })
          );
        })
        .join('') +
      delta({}, CHAT_FINISH[answer.finish]) +
      chunk([], chatUsage(answer)) +
      'data: [DONE]\n\n',
  };
}

function chatBody(answer: Answer, text: string) {
  const calls = answer.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(answer.thinking && !answer.withheld ? { reasoning_content: answer.thinking } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: CREATED,
    model: answer.model,
    choices: [{ index: 0, message, finish_reason: CHAT_FINISH[answer.finish] }],
    usage: chatUsage(answer),
  };
}

function responseReasoning(answer: Answer) {
  const encrypted_content = SIGNATURES['openai-responses'];
  const summary = answer.withheld ? [] : [{ type: 'summary_text', text: answer.thinking }];
  return { id: 'rs_1', type: 'reasoning', summary, encrypted_content };
}

function responseOutput(answer: Answer, text: string): unknown[] {
  const message = {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const calls = answer.toolCalls.map((call, index) => ({
    id: `fc_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  const said = text === '' && calls.length > 0 ? [] : [message];
  return [...(thinks(answer) ? [responseReasoning(answer)] : []), ...said, ...calls];
}

function responseObject(answer: Answer, status: string, output: unknown[]) {
  const { usage } = answer;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: CREATED,
    status,
    model: answer.model,
    output,
    error: null,
    incomplete_details: answer.finish === 'length' && status !== 'in_progress' ? { reason: 'max_output_tokens' } : null,
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.written },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning },
            total_tokens: usage.input + usage.output,
          },
  };
}

// https://platform.openai.com/docs/api-reference/responses-streaming
function responsesEncoder(answer: Answer): Encoder {
  let sequence = 0;
  const send = (type: string, value: Record<string, unknown>) => event({ type, sequence_number: sequence++, ...value });
  const shift = thinks(answer) ? 1 : 0;
  let said = false;
  const at = { item_id: 'msg_1', output_index: shift, content_index: 0 };
  const thinking = () => {
    const here = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
    const part = { type: 'summary_text', text: answer.thinking };
    const shown =
      send('response.reasoning_summary_part.added', { ...here, part: { type: 'summary_text', text: '' } }) +
      send('response.reasoning_summary_text.delta', { ...here, delta: answer.thinking }) +
      send('response.reasoning_summary_part.done', { ...here, part });
    return (
      send('response.output_item.added', { output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } }) +
      (answer.withheld ? '' : shown) +
      send('response.output_item.done', { output_index: 0, item: responseReasoning(answer) })
    );
  };
  const message = { id: 'msg_1', type: 'message', role: 'assistant' };
  const begin = () => {
    said = true;
    return (
      send('response.output_item.added', {
        output_index: shift,
        item: { ...message, status: 'in_progress', content: [] },
      }) + send('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } })
    );
  };
  return {
    open:
      send('response.created', { response: responseObject(answer, 'in_progress', []) }) +
      (thinks(answer) ? thinking() : ''),
    text: (delta) => (said ? '' : begin()) + send('response.output_text.delta', { ...at, delta }),
    close: (whole) => {
      const content = [{ type: 'output_text', text: whole, annotations: [] }];
      const beginning = said || answer.toolCalls.length > 0 ? '' : begin();
      const ending = said
        ? send('response.output_text.done', { ...at, text: whole }) +
          send('response.content_part.done', { ...at, part: content[0] }) +
          send('response.output_item.done', {
            output_index: shift,
            item: { ...message, status: 'completed', content },
          })
        : '';
      const first = shift + (said ? 1 : 0);
      const calls = answer.toolCalls.map((call, index) => {
        const place = { item_id: `fc_${index}`, output_index: first + index };
        const item = { id: place.item_id, type: 'function_call', call_id: call.id, name: call.name };
        return (
          send('response.output_item.added', { ...place, item: { ...item, status: 'in_progress', arguments: '' } }) +
          halves(call.arguments)
            .map((delta) => send('response.function_call_arguments.delta', { ...place, delta }))
            .join('') +
          send('response.function_call_arguments.done', { ...place, arguments: call.arguments }) +
          send('response.output_item.done', {
            ...place,
            item: { ...item, status: 'completed', arguments: call.arguments },
          })
        );
      });
      const last = answer.finish === 'length' ? 'incomplete' : 'completed';
      const end = send(`response.${last}`, { response: responseObject(answer, last, responseOutput(answer, whole)) });
      return beginning + ending + calls.join('') + end;
    },
  };
}

const ANTHROPIC_FINISH = { stop: 'end_turn', length: 'max_tokens', 'tool-calls': 'tool_use' } as const;

function anthropicUsage({ usage }: Answer) {
  return {
    input_tokens: usage.input - usage.cached - usage.written,
    cache_creation_input_tokens: usage.written,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  };
}

function anthropicThinking({ thinking, withheld }: Answer) {
  return withheld
    ? { type: 'redacted_thinking', data: SIGNATURES['anthropic withheld'] }
    : { type: 'thinking', thinking, signature: SIGNATURES.anthropic };
}

// https://docs.anthropic.com/en/api/messages-streaming
function anthropicEncoder(answer: Answer): Encoder {
  const usage = anthropicUsage(answer);
  const first = thinks(answer) ? 1 : 0;
  let said = false;
  const begin = () => {
    said = true;
    return event({ type: 'content_block_start', index: first, content_block: { type: 'text', text: '' } });
  };
  const thinking = () =>
    answer.withheld
      ? block(0, anthropicThinking(answer), [])
      : block(0, { type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking: answer.thinking },
          { type: 'signature_delta', signature: SIGNATURES.anthropic },
        ]);
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: answer.model, content: [] };
  const block = (index: number, content_block: unknown, deltas: unknown[]) =>
    event({ type: 'content_block_start', index, content_block }) +
    deltas.map((delta) => event({ type: 'content_block_delta', index, delta })).join('') +
    event({ type: 'content_block_stop', index });
  return {
    open:
      event({
        type: 'message_start',
        message: { ...message, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
      }) +
      event({ type: 'ping' }) +
      (thinks(answer) ? thinking() : ''),
    text: (text) =>
      (said ? '' : begin()) + event({ type: 'content_block_delta', index: first, delta: { type: 'text_delta', text } }),
    close: () =>
      (said || answer.toolCalls.length > 0 ? '' : begin()) +
      (said ? event({ type: 'content_block_stop', index: first }) : '') +
      answer.toolCalls
        .map((call, index) =>
          block(
            first + (said ? 1 : 0) + index,
            { type: 'tool_use', id: call.id, name: call.name, input: {} },
            halves(call.arguments).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
          ),
        )
        .join('') +
      event({
        type: 'message_delta',
        delta: { stop_reason: ANTHROPIC_FINISH[answer.finish], stop_sequence: null },
        usage,
      }) +
      event({ type: 'message_stop' }),
  };
}

function anthropicBody(answer: Answer, text: string) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [
      ...(thinks(answer) ? [anthropicThinking(answer)] : []),
      ...(text === '' && answer.toolCalls.length > 0 ? [] : [{ type: 'text', text }]),
      ...answer.toolCalls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: parsed(call.arguments),
      })),
    ],
    stop_reason: ANTHROPIC_FINISH[answer.finish],
    stop_sequence: null,
    usage: anthropicUsage(answer),
  };
}

// https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
function googleBody(answer: Answer, parts: unknown[], last: boolean) {
  const { usage } = answer;
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts },
        ...(last ? { finishReason: answer.finish === 'length' ? 'MAX_TOKENS' : 'STOP' } : {}),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output - usage.reasoning,
      thoughtsTokenCount: usage.reasoning,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: answer.model,
  };
}

// The signature of the thoughts stands with the first call alone, or else with the last text.
// https://ai.google.dev/gemini-api/docs/thought-signatures
const googleCalls = (answer: Answer) =>
  answer.toolCalls.map(({ id, name, arguments: args }, index) => ({
    functionCall: { ...(id === '' ? {} : { id }), name, args: parsed(args) },
    ...(index === 0 && thinks(answer) ? { thoughtSignature: SIGNATURES.google } : {}),
  }));

const googleThought = (answer: Answer) =>
  answer.thinking && !answer.withheld ? [{ text: answer.thinking, thought: true }] : [];

const googleEnd = (answer: Answer) =>
  answer.toolCalls.length === 0 && thinks(answer) ? [{ text: '', thoughtSignature: SIGNATURES.google }] : [];

function googleEncoder(answer: Answer): Encoder {
  const thought = googleThought(answer);
  return {
    open: thought.length > 0 ? data(googleBody(answer, thought, false)) : '',
    text: (text) => data(googleBody(answer, [{ text }], false)),
    close: () => data(googleBody(answer, [{ text: '' }, ...googleCalls(answer), ...googleEnd(answer)], true)),
  };
}

/** The encoder of a streamed answer. */
export function encoder(wire: Wire, answer: Answer): Encoder {
  switch (wire) {
    case 'openai-chat':
      return chatEncoder(answer);
    case 'openai-responses':
      return responsesEncoder(answer);
    case 'anthropic':
      return anthropicEncoder(answer);
    case 'google':
      return googleEncoder(answer);
  }
}

/** The body of an answer that is not streamed. */
export function wholeBody(wire: Wire, answer: Answer, text: string): unknown {
  switch (wire) {
    case 'openai-chat':
      return chatBody(answer, text);
    case 'openai-responses':
      return responseObject(
        answer,
        answer.finish === 'length' ? 'incomplete' : 'completed',
        responseOutput(answer, text),
      );
    case 'anthropic':
      return anthropicBody(answer, text);
    case 'google':
      return googleBody(
        answer,
        [...googleThought(answer), { text }, ...googleCalls(answer), ...googleEnd(answer)],
        true,
      );
  }
}

/** The JSON error body of a provider. */
export function errorBody(wire: Wire, status: number, message: string): unknown {
  const anthropicType = status === 401 ? 'authentication_error' : status === 429 ? 'rate_limit_error' : 'api_error';
  switch (wire) {
    case 'anthropic':
      return { type: 'error', error: { type: anthropicType, message }, request_id: 'req_1' };
    case 'google':
      return { error: { code: status, message, status: 'INTERNAL' } };
    default:
      return { error: { message, type: 'api_error', param: null, code: null } };
  }
}

/** An error in the middle of a stream that began with status 200. */
export function errorEvent(wire: Wire, message: string): string {
  switch (wire) {
    case 'openai-responses':
      return event({ type: 'error', sequence_number: 99, code: 'server_error', message, param: null });
    case 'anthropic':
      return event({ type: 'error', error: { type: 'overloaded_error', message } });
    default:
      return data(errorBody(wire, 503, message));
  }
}
