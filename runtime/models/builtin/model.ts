import { createHash } from 'node:crypto';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { promptTexts } from '../prompt.ts';
import { nextAction } from './nextAction.ts';
import { parsePrompt } from './parsePrompt.ts';

type Reply = { text: string; calls: LanguageModelV4ToolCall[]; usage: LanguageModelV4Usage };

/** One token per four characters, rounded up. Attachments and descriptions of tools do not count. */
function usageOf(said: readonly string[], text: string): LanguageModelV4Usage {
  const input = Math.ceil(said.reduce((sum, { length }) => sum + length, 0) / 4);
  const output = Math.ceil(text.length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

async function reply({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): Promise<Reply> {
  const said = promptTexts(prompt);
  const names = tools.map(({ name }) => name);
  const next = await nextAction(parsePrompt(prompt), names, toolChoice?.type !== 'none');
  if ('text' in next) return { text: next.text, calls: [], usage: usageOf(said, next.text) };
  // Deterministic, and different in each step.
  const step = createHash('sha256').update(said.join('\0')).digest('hex').slice(0, 16);
  const calls = next.calls.map(
    (call, place): LanguageModelV4ToolCall => ({
      type: 'tool-call',
      toolCallId: `call_${step}_${place + 1}`,
      toolName: call.name,
      input: call.arguments,
    }),
  );
  return { text: '', calls, usage: usageOf(said, next.calls.map((call) => call.name + call.arguments).join('')) };
}

function finishOf({ calls }: Reply) {
  const reason = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const);
  return { unified: reason, raw: reason };
}

async function doGenerate(options: LanguageModelV4CallOptions) {
  options.abortSignal?.throwIfAborted();
  const made = await reply(options);
  const text = made.text === '' ? [] : [{ type: 'text' as const, text: made.text }];
  return { content: [...text, ...made.calls], finishReason: finishOf(made), usage: made.usage, warnings: [] };
}

function* pieces(made: Reply): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  if (made.text !== '') {
    const id = 'text';
    yield { type: 'text-start', id };
    for (const [delta] of made.text.matchAll(/\S+\s*/g)) yield { type: 'text-delta', id, delta };
    yield { type: 'text-end', id };
  }
  for (const call of made.calls) {
    yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName };
    yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input };
    yield { type: 'tool-input-end', id: call.toolCallId };
    yield call;
  }
  yield { type: 'finish', finishReason: finishOf(made), usage: made.usage };
}

async function doStream(options: LanguageModelV4CallOptions) {
  const source = pieces(await reply(options));
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      options.abortSignal?.throwIfAborted();
      const next = source.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
  return { stream };
}

/**
 * The model that answers without a provider: deterministic, no network, and open about being no LLM. It calls the tools that
 * a message names, answers from the knowledge in its prompt, or otherwise describes the request. Temperature and thinking are
 * accepted and have no effect.
 */
export const builtinModel: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'builtin',
  modelId: 'guildhall-builtin',
  supportedUrls: { '*/*': [/.*/] },
  doGenerate,
  doStream,
};
