import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../../support/http/app.ts';

type Schemas = components['schemas'];

/** A client as the API shows it. */
export type Client = Schemas['ClientWorkspace'];

let made = 0;

/** A new client with one admin, and these fields. */
export function clientFields(fields: Partial<Schemas['ClientCreate']> = {}): Schemas['ClientCreate'] {
  const number = ++made;
  return {
    workspaceName: `Client ${number}`,
    users: [{ name: 'Ana Souza', email: `ana${number}@client.example`, role: 'admin' }],
    ...fields,
  };
}

/** Users with these roles. */
export function usersWith(...roles: Schemas['ClientRole'][]): Schemas['ClientUserCreate'][] {
  return roles.map((role, index) => ({ name: `User ${index}`, email: `user${index}@client.example`, role }));
}

/** Creates a client that must be accepted. */
export async function makeClientOf(
  app: TestApp,
  fields: Partial<Schemas['ClientCreate']> = {},
  key?: string,
): Promise<Client> {
  return (await app.api('post', '/clients', key).send(clientFields(fields)).expect(201)).body;
}

/** The client as `getClient` shows it. */
export async function readClient(app: TestApp, id: string): Promise<Client> {
  return (await app.api('get', `/clients/${id}`).expect(200)).body;
}

/** A request of another workspace's key, or for a client that nobody has, must get the answer of a client that does not exist. */
const CLIENT_MISSING = {
  code: 'CLIENT_NOT_FOUND',
  status: 404,
  message: 'No client with this id exists in the hub.',
  details: [],
};

/** The answers to a request for a client that nobody has, for a deleted one and for one of another workspace. All must be `allMissing`. */
export async function answersForMissingClient(
  app: TestApp,
  ask: (id: string) => PromiseLike<{ status: number; body: { requestId?: string } }>,
): Promise<unknown[]> {
  const [deleted, foreign] = [await makeClientOf(app), await makeClientOf(app, {}, app.stranger.apiKey)];
  await app.workspace.db
    .updateTable('clients')
    .set({ deleted_at: new Date() })
    .where('id', '=', deleted.publicId)
    .execute();
  const answers = [];
  for (const id of [newId(), deleted.publicId, foreign.publicId]) {
    const { status, body } = await ask(id);
    const { requestId: _, ...rest } = body;
    answers.push([status, rest]);
  }
  return answers;
}

/** The expected value of `answersForMissingClient`. */
export const allMissing = Array.from({ length: 3 }, () => [404, CLIENT_MISSING]);
