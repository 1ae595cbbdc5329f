import { selectIdentities } from '../../../db/queries/channels/endUsers.ts';
import { linkIdentities } from '../../../domain/channels/linkIdentities.ts';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { statusEvent } from '../../support/channels/events.ts';
import { addConnection, identity, personOf, type TestConnection } from '../../support/channels/people.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';

let database: TestDatabase;
let workspace: SeededWorkspace;
let connection: TestConnection;
beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
});
afterAll(() => database.drop());
beforeEach(async () => {
  connection = await addConnection(workspace);
});

const NUMBER = 'wa_id:491511234567';
const USER = 'bsuid:DE.123';
const delivered = (...names: string[]): InboundEvent =>
  statusEvent('wamid.out', 'delivered', { identities: names.map(identity) });
const link = (...events: InboundEvent[]) => linkIdentities(workspace.db, connection, events, new Date());
const person = (...names: string[]) => personOf(workspace, connection, names);
const namesOf = async (id: string) =>
  (await selectIdentities(workspace.db, workspace.workspaceId, id)).map(({ kind, value }) => `${kind}:${value}`).sort();
const countPeople = async () =>
  (
    await workspace.db
      .selectFrom('end_users')
      .select('id')
      .where('connection_id', '=', connection.connectionId)
      .execute()
  ).length;

test('whoever wrote with the number is known when a later message has only the business-scoped id', async () => {
  const before = await person(NUMBER);
  await link(delivered(NUMBER, USER));
  expect((await person(USER)).id).toBe(before.id);
  expect(await namesOf(before.id)).toEqual([USER, NUMBER]);
});

test('a number that is known as a phone is the same', async () => {
  const before = await person('phone:491511234567');
  await link(delivered(NUMBER, USER));
  expect((await person(USER)).id).toBe(before.id);
});

test('two people that a status shows to be one become one', async () => {
  const first = await person(NUMBER);
  await person(USER);
  await link(delivered(NUMBER, USER));
  expect(await countPeople()).toBe(1);
  expect((await person(USER)).id).toBe(first.id);
});

test('nobody is made, and nothing is written, where nothing is new', async () => {
  await link(delivered(NUMBER, USER), statusEvent('wamid.out', 'read'));
  expect(await countPeople()).toBe(0);
  const { id } = await person(NUMBER, USER);
  const rows = () => workspace.db.selectFrom('channel_identities').selectAll().where('end_user_id', '=', id).execute();
  const before = await rows();
  await link(delivered(NUMBER, USER));
  expect(await rows()).toEqual(before);
});
