import { readDocument } from '../../core/document.ts';
import { hoistWebhooks, webhooksOf, withInlineWebhooks } from '../../scripts/bundle/webhooks.ts';
import { compareDocuments } from '../../scripts/specDiff/compare.ts';
import type { Document } from '../../spec/rules/types.ts';

const post = { operationId: 'triggerAutomation', responses: { 202: { description: 'Accepted.' } } };
const inline = (): Document => ({ openapi: '3.1.1', paths: {}, webhooks: { automation: { post } } });

test('webhooks of the bundle are referred to, because openapi-generator cannot type the body of one in its place', () => {
  const document = readDocument() as Document;
  const names = Object.keys(document.webhooks ?? {});
  expect(names).toContain('automation');
  for (const name of names) expect(document.webhooks?.[name]).toEqual({ $ref: `#/components/pathItems/${name}` });
});

test('a webhook is the same one in its place and referred to', () => {
  const hoisted = inline();
  hoistWebhooks(hoisted);
  expect(hoisted.webhooks).toEqual({ automation: { $ref: '#/components/pathItems/automation' } });
  expect(webhooksOf(hoisted)).toEqual({ automation: { post } });
  expect(withInlineWebhooks(hoisted)).toEqual({ ...inline(), components: {} });
  expect(compareDocuments(inline(), hoisted)).toEqual([]);
});

test('the parameters of a webhook stand in it, because openapi-generator takes two references for the same parameter', () => {
  const named = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });
  const parameters = { One: named('one'), Two: named('two') };
  const refs = Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const document = (): Document => ({
    openapi: '3.1.1',
    webhooks: { automation: { post: { ...post, parameters: refs } } },
    components: { parameters },
  });
  const hoisted = document();
  hoistWebhooks(hoisted);
  expect(webhooksOf(hoisted).automation?.post).toEqual({ ...post, parameters: [named('one'), named('two')] });
  expect(compareDocuments(document(), hoisted)).toEqual([]);
  const lost = document();
  lost.components = {};
  expect(() => hoistWebhooks(lost)).toThrow('A parameter of a webhook refers to nothing: #/components/parameters/One');
});

test('a change of a webhook that is referred to is seen', () => {
  const hoisted = inline();
  hoistWebhooks(hoisted);
  const gone = { ...hoisted, webhooks: {}, components: {} };
  expect(compareDocuments(hoisted, gone).map(({ where, kind }) => [where, kind])).toEqual([
    ['triggerAutomation', 'breaking'],
  ]);
});

test('a reference that leads nowhere is an error', () => {
  const lost: Document = { openapi: '3.1.1', webhooks: { automation: { $ref: '#/components/pathItems/other' } } };
  expect(() => webhooksOf(lost)).toThrow('The webhook automation refers to nothing: #/components/pathItems/other');
});
