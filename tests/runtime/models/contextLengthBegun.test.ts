import { callModel } from '../../../runtime/models/call.ts';
import { ContextTooLong } from '../../../runtime/models/contextLength.ts';
import { ask, modelOf, rejection, useModelServer } from './support.ts';

const here = useModelServer();

const TOO_LONG = {
  error: { message: "This model's maximum context length is 24576 tokens.", code: 'context_length_exceeded' },
};
const stream = (...events: object[]) => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
});
const piece = (content: string) => ({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] });

test('a request of whose answer a piece was shown does not count as too long: it must not be asked again', async () => {
  const model = modelOf(here.settings, 'openai-compatible', 'local-model');
  const failing = async (...events: object[]) => {
    const shown: string[] = [];
    here.server.script(stream(...events));
    const error = await rejection(
      callModel(here.settings, ask(model, { onText: (text: string) => void shown.push(text) })),
    );
    return [shown.join(''), error instanceof ContextTooLong, (error as { code?: unknown }).code];
  };
  expect(await failing(TOO_LONG)).toEqual(['', true, 'MODEL_PROVIDER_ERROR']);
  expect(await failing(piece('Once upon '), TOO_LONG)).toEqual(['Once upon ', false, 'MODEL_PROVIDER_ERROR']);
  expect(here.server.requests).toHaveLength(2);
});
