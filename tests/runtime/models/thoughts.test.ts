import { callModel } from '../../../runtime/models/call.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { ThinkingHabits, ThoughtFilter } from '../../../runtime/models/thoughts.ts';
import { ask, modelOf, useModelServer, WORKSPACE } from './support.ts';

const here = useModelServer();

/** Settings of their own for each test: what a model does is remembered by settings. */
const compatible = (modelId: string) => {
  const settings = here.server.settings();
  return { ...settings, openaiCompatible: { baseUrl: `${here.server.url}/v1`, models: [modelId] } };
};

async function answerOf(settings: ModelSettings, modelId: string, reply: string | string[], isStreamed: boolean) {
  here.server.script({ reply });
  const deltas: string[] = [];
  const more = isStreamed ? { onText: (delta: string) => void deltas.push(delta) } : {};
  const answer = await callModel(settings, ask(modelOf(settings, 'openai-compatible', modelId), more));
  return { answer, streamed: deltas.join('') };
}

/** Every text, whole, in single characters, and cut in two at each place. */
const cuts = (text: string): string[][] => [
  [text],
  [...text],
  ...Array.from({ length: text.length - 1 }, (_, i) => [text.slice(0, i + 1), text.slice(i + 1)]),
];

/** As gpt-oss writes them. */
const ANALYSIS = '<|channel|>analysis<|message|>Hm. A < b?';
const RAW_CALL = '<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}<|call|>';

describe('thoughts in the text of a compatible server', () => {
  test.each([
    ['<think>Hm. Paris?</think>Paris.'],
    ['<think>\nHm.\n</think>\n\nParis.'],
    ['\n<thinking>Hm </think> <b>.</thinking>\nParis.'],
    ['<think></think>\n\nParis.'],
    ['<think>One.</think>\n<think>Two.</think>\nParis.'],
    ['<THINK>Hm.</THINK>Paris.'],
    ['<thought>\nHm.\n</thought>\nParis.'],
    ['<reasoning>Hm. </think> It is.</reasoning>Paris.'],
    ['<seed:think>Hm.</seed:think>Paris.'],
    ['[THINK]Hm.[/THINK]Paris.'],
    ['◁think▷Hm.◁/think▷Paris.'],
    ['<|channel>thought\nHm.<channel|>Paris.'],
    ['<think>Hm. <think>Paris?</think> Yes.</think>\n\nParis.'],
    ['<think>They ask about <think>.</think>Paris.'],
    ['<think>Hm.</thinking>\n\nParis.'],
    ['<thinking>Is it `</think>`?</think>Paris.'],
    ['<think>They write </reasoning> here.</think>Paris.'],
    [`${ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>`],
    [`\n<|start|>assistant${ANALYSIS}<|end|>\n<|start|>assistant<|channel|>final <|message|>Paris.<|end|>\n`],
    [`${ANALYSIS}<|channel|>final<|message|>Paris.`],
    ['<|channel|>final<|message|>Paris.'],
    [`${ANALYSIS}<|end|>${RAW_CALL}<|start|>assistant<|channel|>final<|message|>Paris.`],
    [`${ANALYSIS}<|end|>Paris.`],
  ])('are neither shown nor kept: %j', async (reply) => {
    const settings = compatible('local');
    const { answer } = await answerOf(settings, 'local', reply, false);
    expect(answer.text).toBe('Paris.');
    expect(answer.content).toEqual([{ type: 'text', text: 'Paris.' }]);
    for (const pieces of cuts(reply)) {
      const { answer: whole, streamed } = await answerOf(settings, 'local', pieces, true);
      expect([streamed, whole.text]).toEqual(['Paris.', 'Paris.']);
      expect(whole.content).toEqual([{ type: 'text', text: 'Paris.' }]);
    }
  });

  const LONE = 'Okay, France. It is a country.\n</think>\n\nParis.';

  test.each([
    'deepseek-r1',
    'deepseek-ai/DeepSeek-R1-Distill-Qwen-7B',
    'qwq:32b',
    'Qwen3-4B-Thinking-2507',
    'MiniMax-M2',
    'allenai/Olmo-3-7B-Think',
    'tngtech/DeepSeek-R1T2-Chimera',
    'glm-z1-9b',
  ])('whose opening tag is in the prompt are neither shown nor kept (%s)', async (modelId) => {
    const settings = compatible(modelId);
    for (const pieces of cuts(LONE)) {
      const { answer, streamed } = await answerOf(settings, modelId, pieces, true);
      expect([streamed, answer.text]).toEqual(['Paris.', 'Paris.']);
    }
    expect((await answerOf(settings, modelId, LONE, false)).answer.text).toBe('Paris.');
  });

  test('of a model whose name does not tell are known from its first answer on', async () => {
    const settings = compatible('local');
    expect((await answerOf(settings, 'local', LONE, false)).answer.text).toBe('Paris.');
    for (const pieces of [[LONE], [...LONE]])
      expect((await answerOf(settings, 'local', pieces, true)).streamed).toBe('Paris.');
    // In a stream, the first answer shows them: what is kept of it does not have them.
    const other = compatible('local');
    const { answer, streamed } = await answerOf(other, 'local', [...LONE], true);
    expect([streamed, answer.text]).toEqual([LONE, 'Paris.']);
    expect((await answerOf(other, 'local', [...LONE], true)).streamed).toBe('Paris.');
  });

  test('that are all there is leave an empty answer, which says so', async () => {
    const settings = compatible('local');
    for (const isStreamed of [false, true]) {
      here.server.script({ reply: '<think>Hm. Let me', finish: 'length' });
      const more = isStreamed ? { onText: () => {} } : {};
      const answer = await callModel(settings, ask(modelOf(settings, 'openai-compatible', 'local'), more));
      expect(answer).toMatchObject({ text: '', content: [], finishReason: 'length', isOnlyThoughts: true });
    }
  });

  test('what gpt-oss says before a call is shown, and thoughts alone are an empty answer', async () => {
    const settings = compatible('local');
    const said = `<|channel|>commentary<|message|>I look.<|end|>${RAW_CALL}<|start|>assistant<|channel|>final<|message|>Paris.`;
    for (const pieces of cuts(said)) {
      const { answer, streamed } = await answerOf(settings, 'local', pieces, true);
      expect([streamed, answer.text]).toEqual(['I look.\n\nParis.', 'I look.\n\nParis.']);
    }
    for (const isStreamed of [false, true]) {
      const { answer } = await answerOf(settings, 'local', ANALYSIS, isStreamed);
      expect(answer).toMatchObject({ text: '', finishReason: 'empty', isOnlyThoughts: true });
    }
  });

  test('a model that was thought to think so and does not is streamed from its second answer on', async () => {
    const settings = compatible('deepseek-r1');
    const pieces = ['Paris', ' is', ' it.'];
    expect((await answerOf(settings, 'deepseek-r1', pieces, true)).streamed).toBe('Paris is it.');
    const heard: string[] = [];
    here.server.script({ reply: pieces });
    const model = modelOf(settings, 'openai-compatible', 'deepseek-r1');
    await callModel(settings, ask(model, { onText: (delta) => void heard.push(delta) }));
    expect(heard).toEqual(pieces);
  });

  test('what one workspace makes a model write holds back no other', async () => {
    const settings = compatible('local');
    const tagged = ['Hm.\n</think>\nParis.'];
    expect((await answerOf(settings, 'local', tagged, true)).answer.text).toBe('Paris.');
    const heard = async (workspaceId: string): Promise<string[]> => {
      const pieces: string[] = [];
      here.server.script({ reply: ['Paris', ' it is.'] });
      const model = modelOf(settings, 'openai-compatible', 'local');
      await callModel(settings, ask(model, { workspaceId, onText: (delta) => void pieces.push(delta) }));
      return pieces;
    };
    expect(await heard('another workspace')).toEqual(['Paris', ' it is.']);
    expect(await heard(WORKSPACE)).toEqual(['Paris it is.']);
  });

  test('that the server sends apart hold nothing back', async () => {
    const settings = compatible('deepseek-r1');
    const heard: string[] = [];
    here.server.script({ thinking: 'Hm.', reply: ['Paris', ' it is.'] });
    const model = modelOf(settings, 'openai-compatible', 'deepseek-r1');
    const answer = await callModel(settings, ask(model, { onText: (delta) => void heard.push(delta) }));
    expect(heard).toEqual(['Paris', ' it is.']);
    expect(answer.text).toBe('Paris it is.');
  });
});

describe('a text about the tags', () => {
  test.each([
    ['The tag `<think>` opens, and `</think>` closes.'],
    ['```xml\n<think>\nHm.\n</think>\n```\nThat is how it looks.'],
    ['See:\n\n```\nthoughts\n</think>\n```\n'],
    ['Write <think>x</think>\nthen the answer.'],
    ['<thinker>No.</thinker>'],
    ['<reasoning by="me">No.</reasoning>'],
    ['<seed>No.</seed>'],
    ['<th'],
    ['a < b\n'],
    ['It ends with </think> in most templates.'],
    ['A message has `<|channel|>final<|message|>` before it and `<|end|>` behind it.'],
    ['<|channel|>final'],
    ['<|channel|>other<|message|>No.'],
  ])('stays whole: %j', async (reply) => {
    for (const modelId of ['local', 'deepseek-r1']) {
      const settings = compatible(modelId);
      expect((await answerOf(settings, modelId, reply, false)).answer.text).toBe(reply);
      for (const pieces of modelId === 'local' ? cuts(reply) : [[reply], [...reply]]) {
        const { answer, streamed } = await answerOf(settings, modelId, pieces, true);
        expect([streamed, answer.text]).toEqual([reply, reply]);
      }
    }
  });

  test.each([
    ['Write `<|start|>assistant<|channel|>analysis<|message|>`, and `<|end|>` last.', ''],
    ['1 <|en', '<|return|>'],
  ])('stays whole in the answer of gpt-oss: %j', async (text, end) => {
    const settings = compatible('local');
    for (const pieces of cuts(`${ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>${text}${end}`)) {
      const { answer, streamed } = await answerOf(settings, 'local', pieces, true);
      expect([streamed, answer.text]).toEqual([text, text]);
    }
  });

  test('of another provider is not looked at', async () => {
    here.server.script({ reply: '<think>Hm.</think>Paris.' });
    const answer = await callModel(here.settings, ask(modelOf(here.settings, 'anthropic', 'claude-opus-4-6')));
    expect(answer.text).toBe('<think>Hm.</think>Paris.');
  });
});

test('the time that an answer of gpt-oss takes grows with its length only', () => {
  const message = '<|channel|>analysis<|message|>Hm.<|end|>';
  const before = process.threadCpuUsage();
  for (const isWhole of [true, false]) {
    const filter = new ThoughtFilter(new ThinkingHabits({ retries: 0 }, 'w', 'some-model'), { isWhole });
    const pieces = isWhole ? [message.repeat(50_000)] : Array.from({ length: 50_000 }, () => message);
    const shown = pieces.map((piece) => filter.take(piece)).join('');
    expect(shown + filter.take('<|channel|>final<|message|>Paris.<|end|>') + filter.end()).toBe('Paris.');
  }
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(5_000);
});

test.each([
  ['white space without end', '    ', 6_000],
  ['closing tags in quotes', '`</think>\n', 20_000],
])('the time that a streamed answer takes grows with its length only: %s', (_what, piece, count) => {
  for (const modelId of ['some-model', 'qwq']) {
    const filter = new ThoughtFilter(new ThinkingHabits({ retries: 0 }, 'w', modelId), { isWhole: false });
    const before = process.threadCpuUsage();
    let shown = '';
    for (let n = 0; n < count; n += 1) shown += filter.take(piece);
    shown += filter.end();
    expect(filter.cleaned(shown)).toBe(piece.repeat(count));
    // Milliseconds now; each of the four was a minute.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(5_000);
  }
});
