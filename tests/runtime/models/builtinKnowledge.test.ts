import { callModel } from '../../../runtime/models/call.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { besidePart } from '../../../runtime/models/prompt.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { processorMs } from '../../support/processorTime.ts';
import { ask } from './support.ts';

const settings: ModelSettings = { retries: 0 };

const passage = (source: string, ...lines: string[]) => `<passage source="${source}">\n${lines.join('\n')}\n</passage>`;
const prompt = (...passages: string[]) => ['# Knowledge', ...passages, '# Memory', 'Nothing yet.'].join('\n\n');
const asked = (question: string, beside: string) => ({
  role: 'user' as const,
  content: [{ type: 'text' as const, text: question }, besidePart(beside)],
});

const say = async (beside: string, question: string): Promise<string> =>
  (await callModel(settings, ask(BUILTIN_MODEL, { system: 'You are Ada.', messages: [asked(question, beside)] }))).text;

const SHOP = prompt(
  passage(
    'Returns &amp; &lt;refunds&gt; &quot;2026&quot;.pdf',
    '[Returns, page 2]',
    'You may return shoes',
    'within 30 days of the purchase. Bring your receipt.',
  ),
  passage('opening.md', '\\# Opening hours', '', 'Monday to Friday from 9 to 18.', '', '- Sundays: closed'),
);

describe('asked what the knowledge in its prompt answers, the built-in model', () => {
  test('replies with the sentence, also when it spans lines, and the real name of its source', async () => {
    const text = await say(SHOP, 'How long can I return my shoes?');
    expect(text).toMatch(
      /^You may return shoes within 30 days of the purchase\.\n\nSource: Returns & <refunds> "2026"\.pdf\n/,
    );
    expect(text).not.toContain('receipt');
    expect(text).toContain('not an LLM');
  });

  test('quotes the text below a heading with it', async () => {
    const text = await say(SHOP, 'What are your opening hours?');
    expect(text).toContain('Opening hours Monday to Friday from 9 to 18.');
    expect(text).toContain('Source: opening.md');
  });

  test('names each source when several have as much of the question', async () => {
    const beside = prompt(
      passage('a.md', 'The warranty of lamps is two years.'),
      passage('b.md', 'The warranty of chairs is ten years.'),
    );
    const text = await say(beside, 'How long is the warranty?');
    expect(text).toContain('two years.\n\nSource: a.md');
    expect(text).toContain('ten years.\n\nSource: b.md');
  });

  test.each([
    [
      'German, other forms, accents and case',
      'WANN ÖFFNEN DIE LÄDEN?',
      'Willkommen. Der Laden öffnet täglich um neun.',
      'Der Laden öffnet täglich um neun.',
    ],
    [
      'Spanish',
      '¿Cuándo cierra la tienda?',
      'Hay aparcamiento. La tienda cierra a las ocho.',
      'La tienda cierra a las ocho.',
    ],
    [
      'French, without accents',
      'Que paie un eleve?',
      'Bienvenue. Un élève paie dix euros.',
      'Un élève paie dix euros.',
    ],
    ['Russian', 'Сколько стоит доставка?', 'Мы рады вам. Доставка стоит пять евро.', 'Доставка стоит пять евро.'],
    ['Korean', '배송 기간은 얼마나 걸립니까?', '안녕하세요. 배송 기간은 사흘입니다.', '배송 기간은 사흘입니다.'],
    ['Chinese', '营业时间是几点？', '我们在巴黎。营业时间为早上九点到下午五点。', '营业时间为早上九点到下午五点。'],
    [
      'Japanese',
      '返品期間はいつまでですか？',
      '当店は東京にあります。返品期間は三十日です。',
      '返品期間は三十日です。',
    ],
  ])('understands no language and finds its words in all: %s', async (_, question, content, sentence) => {
    const text = await say(prompt(passage('doc', content)), question);
    expect(text.split('\n')[0]).toBe(sentence);
  });

  test('calls the tool that the message names rather than answer', async () => {
    const tools = [{ name: 'return_shoes', description: '', inputSchema: {} }];
    const messages = [asked('How long can I return shoes? call return_shoes', SHOP)];
    const { toolCalls } = await callModel(settings, ask(BUILTIN_MODEL, { messages, tools }));
    expect(toolCalls).toHaveLength(1);
  });
});

describe('the built-in model says what reached it', () => {
  test('when it may not make the call that the message names', async () => {
    const tools = [{ name: 'return_shoes', description: '', inputSchema: {} }];
    const messages = [asked('How long can I return shoes? call return_shoes', SHOP)];
    const call = ask(BUILTIN_MODEL, { messages, tools, toolChoice: 'none' });
    const { text, toolCalls } = await callModel(settings, call);
    expect(toolCalls).toEqual([]);
    expect(text).toContain('I may not call tools now.');
  });

  test.each(['What is the capital of France?', 'Hello!', 'Who are you?', ''])(
    'when nothing of the knowledge fits: %j',
    async (question) => {
      const text = await say(SHOP, question);
      expect(text).not.toContain('Source:');
      expect(text).toContain('2 passages of knowledge reached me.');
    },
  );

  test('with the tools that it can call', async () => {
    const tools = Array.from({ length: 40 }, (_, i) => ({ name: `tool_${i}`, description: '', inputSchema: {} }));
    const messages = [{ role: 'user' as const, content: 'Hello!' }];
    const { text } = await callModel(settings, ask(BUILTIN_MODEL, { messages, tools }));
    expect(text).toMatch(/I can call 40 tools: tool_0, .*, tool_29 and 10 more\./);
    expect(text).not.toContain('passage');
  });

  test('and takes for knowledge only what stands in its section', async () => {
    const outside = passage('fake', 'The return of shoes takes 99 days.');
    const beside = [
      outside,
      '# Knowledge',
      passage('real', 'The return of shoes takes 30 days.', '# Memory', 'Ten of them are free.'),
      passage('second', 'Nothing.'),
      '# Memory',
      outside,
      '## Knowledge',
      outside,
    ].join('\n');
    const text = await say(beside, 'How long does the return of shoes take?');
    expect(text).toMatch(/^The return of shoes takes 30 days\.\n\nSource: real\n/);
    expect(await say(beside, 'Hello!')).toContain('2 passages of knowledge reached me.');
  });

  test('within five seconds for much knowledge and a long question', async () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(' ');
    const blanks = '\n'.repeat(100_000);
    const long = prompt(...Array.from({ length: 50 }, (_, i) => passage(`${i}`, words, blanks)));
    expect(await processorMs(() => say(long, words))).toBeLessThan(5_000);
  });
});
