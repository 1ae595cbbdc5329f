import { type ModelMessage, toPrompt, withoutProviderParts, withPlainIds } from '../../../runtime/models/prompt.ts';

const text = (words: string) => ({ type: 'text' as const, text: words });
const called = (id: string, more: object = {}) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: 'look',
  input: { at: 'sky' },
  ...more,
});
const result = (id: string, words = 'Blue.') => ({ toolCallId: id, toolName: 'look', text: words, isError: false });
const user = (content: string): ModelMessage => ({ role: 'user', content });
const assistant = (...content: Extract<ModelMessage, { role: 'assistant' }>['content'][number][]) =>
  ({ role: 'assistant', content }) as ModelMessage;
const tool = (...content: ReturnType<typeof result>[]): ModelMessage => ({ role: 'tool', content });

const roles = (messages: readonly ModelMessage[]) => toPrompt(undefined, messages).map(({ role }) => role);

describe('toPrompt', () => {
  test('drops messages and texts without content, but never a call or its result', () => {
    const prompt = toPrompt(' ', [
      user(''),
      { role: 'assistant', content: ' \n' },
      user('Look.'),
      assistant(text('\n\n'), called('a')),
      tool(result('a', '')),
      assistant(text('')),
      tool(),
    ]);
    expect(prompt).toEqual([
      { role: 'user', content: [text('Look.')] },
      { role: 'assistant', content: [called('a')] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'look', output: { type: 'text', value: '' } }],
      },
    ]);
  });

  test('a blank message of a user is described as blank, and left out when it has a file', () => {
    const file = {
      type: 'file' as const,
      data: { type: 'data' as const, data: new Uint8Array([1]) },
      mediaType: 'image/png',
    };
    const prompt = toPrompt(undefined, [user(' \n'), { role: 'user', content: [text(' '), file] }]);
    expect(prompt.map(({ content }) => content)).toEqual([[text('(a blank message)')], [file]]);
  });

  test('a result that is an error is sent as an error', () => {
    const prompt = toPrompt(undefined, [assistant(called('a')), tool({ ...result('a', 'Too dark.'), isError: true })]);
    expect(prompt[1]?.content).toMatchObject([{ output: { type: 'error-text', value: 'Too dark.' } }]);
  });

  test('keeps what has no text and yet says something to its provider', () => {
    const withheld = { type: 'reasoning' as const, text: '', providerOptions: { anthropic: { redactedData: 'x' } } };
    const signed = { ...text(''), providerOptions: { google: { thoughtSignature: 'x' } } };
    const empty = { type: 'reasoning' as const, text: '' };
    const [message] = toPrompt(undefined, [assistant(empty, withheld, signed)]);
    expect(message?.content).toEqual([withheld, signed]);
  });

  test('messages of the assistant in a row become one, their texts paragraphs of it', () => {
    expect(
      toPrompt(undefined, [
        user('Look.'),
        { role: 'assistant', content: 'First.' },
        { role: 'assistant', content: 'Second.' },
        assistant(called('a')),
      ]),
    ).toEqual([
      { role: 'user', content: [text('Look.')] },
      { role: 'assistant', content: [text('First.\n\nSecond.'), called('a')] },
    ]);
  });

  test('results of one step come together, and a message after calls stays apart from them', () => {
    const messages = [
      assistant(called('a'), called('b')),
      tool(result('a')),
      tool(result('b')),
      assistant(text('So.')),
    ];
    expect(roles(messages)).toEqual(['assistant', 'tool', 'assistant']);
    expect(toPrompt(undefined, messages)[1]?.content).toHaveLength(2);
    expect(roles([assistant(called('a')), assistant(called('b'))])).toEqual(['assistant', 'assistant']);
  });
});

describe('withoutProviderParts', () => {
  test('takes thoughts and what providers put with texts and calls, and with them messages of nothing else', () => {
    const own = { providerOptions: { openai: { itemId: 'x' } } };
    const thought = { type: 'reasoning' as const, text: 'Hm.', ...own };
    const signed = { ...text(''), providerOptions: { google: { thoughtSignature: 'x' } } };
    const said: ModelMessage = { role: 'assistant', content: 'Hi.' };
    expect(
      withoutProviderParts([
        user('Look.'),
        said,
        assistant(thought, { ...text('So'), ...own }, called('a', own)),
        tool(result('a')),
        assistant(thought, signed),
      ]),
    ).toEqual([user('Look.'), said, assistant(text('So'), called('a')), tool(result('a'))]);
  });
});

describe('withPlainIds', () => {
  test('ids that not every provider takes are changed, calls and results alike; others stay', () => {
    const odd = 'functions.look:0';
    const long = `call-${'x'.repeat(80)}`;
    const prompt = toPrompt(undefined, [
      assistant(text('Hm.'), called(odd), called(long), called('call_1-a')),
      tool(result(odd), result(long), result('call_1-a')),
    ]);
    const ids = withPlainIds(prompt).map(({ content }) =>
      (content as object[]).flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
    );
    expect(ids[0]).toEqual(['functions_look_0', 'x'.repeat(64), 'call_1-a']);
    expect(ids[1]).toEqual(ids[0]);
  });
});
