import {
  type AnyInput,
  type CodeOf,
  GuildhallError,
  guildhall,
  type Input,
  type OperationId,
  type Output,
  type UploadFile,
} from '../../../clients/sdk/index.ts';

/*
 * What the compiler must take, and what it must refuse: `npm run types` fails when a line below `@ts-expect-error` compiles. Nothing of it runs.
 */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const path = { agentPublicId: 'x' };
const file: UploadFile = { data: new Uint8Array(), name: 'x' };

async function calls(api = guildhall()) {
  (await api.call('createAgent', { body: { name: 'x' } })).publicId satisfies string;
  (await api.call('getHealth')).status satisfies 'ok';
  // @ts-expect-error: there is no such operation
  await api.call('makeAgent', { body: { name: 'x' } });
  // @ts-expect-error: the path is missing
  await api.call('getAgent');
  // @ts-expect-error: the path is incomplete
  await api.call('getAgent', { path: {} });
  // @ts-expect-error: the body is missing
  await api.call('createAgent', {});
  // @ts-expect-error: there is no such field
  await api.call('createAgent', { body: { name: 'x', colour: 'red' } });
  // @ts-expect-error: there is no such filter
  await api.call('listAgents', { query: { colour: 'red' } });
  // @ts-expect-error: the query is needed
  await api.call('checkSubdomainAvailability');
  await api.call('publishAgent', { path });
  await api.call('publishAgent', { path, body: { notes: 'x' }, idempotencyKey: 'x' });
  // @ts-expect-error: the operation takes no Idempotency-Key
  await api.call('getAgent', { path, idempotencyKey: 'x' });
}

async function uploads(api = guildhall()) {
  await api.call('uploadSkill', { file });
  await api.call('createKnowledgeSource', { file, metadata: { name: 'x' } });
  await api.call('createKnowledgeSource', { body: { name: 'x', textContent: 'x' } });
  // @ts-expect-error: a text or a file
  await api.call('createKnowledgeSource', { body: { name: 'x', textContent: 'x' }, file });
  // @ts-expect-error: a skill is a file
  await api.call('uploadSkill', { body: {} });
  // @ts-expect-error: a skill has no metadata
  await api.call('uploadSkill', { file, metadata: { name: 'x' } });
  // @ts-expect-error: a file has a name
  await api.call('uploadSkill', { file: { data: new Blob([]) } });
}

async function lists(api = guildhall()) {
  for await (const { name } of api.items('listAgents', { query: { search: 'x' } })) name satisfies string;
  for await (const { name } of api.items('listVariables', { path })) name satisfies string;
  // @ts-expect-error: it is no list
  api.items('getAgent', { path });
  for await (const event of api.events({ path, body: { content: 'x' } })) {
    if (event.event === 'text-delta') event.data.text satisfies string;
    // @ts-expect-error: only a piece of the reply has a text
    if (event.event === 'error') event.data.text;
  }
}

function errors(error: unknown) {
  // @ts-expect-error: nothing is known of it yet
  error.code;
  if (GuildhallError.of(error, 'createAgent')) {
    if (error.code === 'AGENT_NAME_TAKEN' || error.code === 'RATE_LIMITED' || error.code === 'NOT_FOUND') return;
    // @ts-expect-error: not a code of this operation
    if (error.code === 'COUPON_NOT_FOUND') return;
  } else if (error instanceof GuildhallError) {
    if (error.code === 'COUPON_NOT_FOUND' || error.code === 'UNREADABLE_RESPONSE') return;
    // @ts-expect-error: not a code of the document
    if (error.code === 'COUPON_NOT_FOUNT') return;
  }
}

async function tables(api = guildhall()) {
  const id = 'listAgents' as OperationId;
  const input: AnyInput = { query: { any: 1 } };
  const answer: unknown = await api.call(id, input);
  return answer;
}

test('the types of the interface', () => {
  const types: [
    Same<Input<OperationId>, AnyInput>,
    Same<Output<'deleteAgent'>, undefined>,
    Same<Output<OperationId>, unknown>,
    Same<Extract<CodeOf<'getHealth'>, 'AGENT_NOT_FOUND'>, never>,
  ] = [true, true, true, true];
  expect([types.length, calls, uploads, lists, errors, tables].length).toBe(6);
});
