import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

const INSTRUCTIONS_SHOWN = 200;
const MESSAGE_SHOWN = 1_000;

function cut(text: string, length: number): string {
  const flat = text.trim().replace(/\s+/g, ' ');
  return flat.length <= length ? flat : `${flat.slice(0, length).trimEnd()}…`;
}

type Seen = { system: string; last: string; attachments: string[]; earlier: number; characters: number };

function look(prompt: LanguageModelV4Prompt): Seen {
  const seen: Seen = { system: '', last: '', attachments: [], earlier: 0, characters: 0 };
  const lastUser = prompt.findLastIndex((message) => message.role === 'user');
  for (const [index, message] of prompt.entries()) {
    if (message.role === 'system') {
      seen.system += message.content;
      seen.characters += message.content.length;
      continue;
    }
    if (index !== lastUser) seen.earlier += 1;
    for (const part of message.content) {
      if (part.type === 'text') seen.characters += part.text.length;
      if (index !== lastUser) continue;
      if (part.type === 'text') seen.last += `${seen.last === '' ? '' : '\n'}${part.text}`;
      if (part.type === 'file') {
        seen.attachments.push(part.filename === undefined ? part.mediaType : `${part.filename}, ${part.mediaType}`);
      }
    }
  }
  return seen;
}

function reply(seen: Seen): string {
  const files = seen.attachments;
  const lines = [
    "I am Guildhall's built-in model. I am not an LLM: I tell you what reached me, so that you can try every feature without an account anywhere.",
    seen.last.trim() === '' ? 'Your message has no text.' : `You wrote: “${cut(seen.last, MESSAGE_SHOWN)}”`,
    seen.system.trim() === ''
      ? 'I have no instructions.'
      : `My instructions begin: “${cut(seen.system, INSTRUCTIONS_SHOWN)}”`,
    seen.earlier === 0
      ? 'This is the first message that I see of this conversation.'
      : `I see ${seen.earlier} earlier ${seen.earlier === 1 ? 'message' : 'messages'} of this conversation.`,
  ];
  if (files.length > 0) {
    lines.push(
      `With it came ${files.length} ${files.length === 1 ? 'attachment' : 'attachments'} (${files.join('; ')}).`,
    );
  }
  lines.push('For real answers, set a provider key such as OPENAI_API_KEY and choose one of its models for the agent.');
  return lines.join('\n\n');
}

/** One token per four characters begun; attachments count nothing. */
function usage(seen: Seen, text: string): LanguageModelV4Usage {
  const input = Math.ceil(seen.characters / 4);
  const output = Math.ceil(text.length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

const FINISH = { unified: 'stop', raw: 'stop' } as const;

async function doGenerate({ prompt, abortSignal }: LanguageModelV4CallOptions) {
  abortSignal?.throwIfAborted();
  const seen = look(prompt);
  const text = reply(seen);
  return { content: [{ type: 'text' as const, text }], finishReason: FINISH, usage: usage(seen, text), warnings: [] };
}

async function doStream({ prompt, abortSignal }: LanguageModelV4CallOptions) {
  const seen = look(prompt);
  const text = reply(seen);
  const id = 'text';
  function* parts(): Generator<LanguageModelV4StreamPart> {
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id };
    for (const [delta] of text.matchAll(/\S+\s*/g)) yield { type: 'text-delta', id, delta };
    yield { type: 'text-end', id };
    yield { type: 'finish', finishReason: FINISH, usage: usage(seen, text) };
  }
  const source = parts();
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      abortSignal?.throwIfAborted();
      const next = source.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
  return { stream };
}

/**
 * The model that answers without a provider: deterministic, no network, and open about being no LLM. It repeats the
 * user's message and the beginning of its instructions, and says how much of the conversation and how many attachments
 * reached it. Temperature and thinking are taken and change nothing.
 */
export const builtinModel: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'builtin',
  modelId: 'guildhall-builtin',
  supportedUrls: { '*/*': [/.*/] },
  doGenerate,
  doStream,
};
