import { readDocument } from '../../core/document.ts';
import type { OperationId } from '../../generated/operations.ts';
import { createContract } from '../../server/api/contract/contract.ts';
import type { Document, Operation, Schema } from '../../spec/rules/types.ts';

const document = readDocument() as Document;
const schemas = document.components?.schemas as Record<string, Schema>;
const { MessageStream = {}, MessageStreamEvent = {} } = schemas;
const { mapping } = MessageStreamEvent.discriminator as { mapping: Record<string, string> };
const ref = (name: string) => `#/components/schemas/${name}`;

test('the schema of each event is tied to its name, in one place', () => {
  expect(MessageStream.contentSchema).toEqual({ $ref: ref('MessageStreamEvent') });
  expect(MessageStreamEvent.oneOf).toEqual(Object.values(mapping).map(($ref) => ({ $ref })));
  const named = Object.values(mapping).map(($ref) => schemas[$ref.split('/').at(-1) ?? '']?.properties?.event?.const);
  expect(named).toEqual(Object.keys(mapping));
});

test('the text says the same names, in order, with the schema of the data', () => {
  const said = [...(MessageStream.description ?? '').matchAll(/^- `([\w-]+)`[\s\S]*?\(`(\w+)`\)/gm)];
  const data = ([, event = '', schema = '']: RegExpMatchArray) => [event, ref(schema)];
  const meant = Object.entries(mapping).map(([event, $ref]) => {
    const { properties = {} } = schemas[$ref.split('/').at(-1) ?? ''] ?? {};
    return [event, properties.data?.$ref];
  });
  expect(said.map(data)).toEqual(meant);
});

describe('an event that the document does not have', () => {
  const id = '0199a400-1a2b-7c3d-8e4f-5a6b7c8d9e01';
  const check = async (operationId: OperationId, event: { event: string; data: unknown }) => {
    const { operations, checkEvent } = await createContract({});
    const operation = operations.find((each) => each.operationId === operationId);
    return operation && checkEvent(operation, event);
  };

  test.each<[string, OperationId, string, unknown, RegExp | undefined]>([
    ['is none when name and data fit', 'streamMessage', 'conversation-id', { conversationId: id }, undefined],
    ['has another name', 'streamMessage', 'conversation', { conversationId: id }, /must be equal to constant/],
    ['lacks a field', 'streamMessage', 'conversation-id', {}, /conversationId/],
    ['has the data of another event', 'streamMessage', 'text-delta', { conversationId: id }, /'text'/],
    ['is of an operation without a stream', 'sendMessage', 'text-delta', { text: 'x' }, /no stream/],
  ])('%s', async (_case, operationId, event, data, reason) => {
    const wrong = await check(operationId, { event, data });
    if (reason) expect(wrong).toMatch(reason);
    else expect(wrong).toBeUndefined();
  });
});

test('the examples have the events of the document', async () => {
  const { operations, checkEvent } = await createContract({});
  const streaming = operations.find((each) => each.operationId === 'streamMessage');
  const post = document.paths?.[streaming?.path ?? '']?.post as Operation | undefined;
  const examples = post?.responses?.['200']?.content?.['text/event-stream']?.examples ?? {};
  expect(Object.keys(examples).sort()).toEqual(['failure', 'reply', 'withoutCredits']);
  const expected: Record<string, string[]> = {
    reply: ['conversation-id', 'text-delta', 'text-delta', 'debug-info'],
    failure: ['conversation-id', 'error'],
    withoutCredits: ['error'],
  };
  for (const [name, { value }] of Object.entries(examples)) {
    const events = [...String(value).matchAll(/^event: (.*)\ndata: (.*)$/gm)];
    expect(events.map(([, event]) => event)).toEqual(expected[name]);
    for (const [, event = '', data = ''] of events)
      expect(streaming && checkEvent(streaming, { event, data: JSON.parse(data) })).toBeUndefined();
  }
});
