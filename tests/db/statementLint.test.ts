import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../core/ids.ts';
import { removeUnconnectedExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import { ACROSS_WORKSPACES } from '../support/db/acrossWorkspaces.ts';
import { createTestDatabase, type SeededWorkspace, TEST_ADMIN_URL, type TestDatabase } from '../support/db/database.ts';
import { lintStatements, originOfSent } from '../support/db/statementLint.ts';

let setting: TestDatabase;
let workspace: SeededWorkspace;
let client: pg.Client;
beforeAll(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
  const address = new URL(process.env[TEST_ADMIN_URL] ?? '');
  address.pathname = `/${setting.name}`;
  client = new pg.Client({ connectionString: address.href });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await setting.drop();
});

const tablesOf = async (text: string, name = 'aFunction') => {
  const reports = await lintStatements(client, [[text, { file: 'db/queries/any.ts', name }]]);
  return reports.flatMap(({ tables }) => tables);
};

test.each([
  ['a row by its id alone', 'select * from agents where id = $1', ['agents']],
  ['a change by id', 'update agents set name = $1 where id = $2', ['agents']],
  ['a deletion of everything', 'delete from memories', ['memories']],
  ['steps of a turn', 'select * from turn_steps where turn_id = $1', ['turn_steps']],
  [
    'a subquery that takes the workspace from the row around it',
    'select (select count(*) from turns t where t.workspace_id = c.workspace_id and t.conversation_id = c.id) from conversations c where c.workspace_id = $1',
    ['turns'],
  ],
  [
    'a join by id',
    'select 1 from agents a join conversations c on c.agent_id = a.id where a.workspace_id = $1',
    ['conversations'],
  ],
  ['one of two workspaces', 'select 1 from agents where workspace_id = $1 or id = $2', ['agents']],
])('%s is reported', async (_what, text, tables) => {
  expect(await tablesOf(text)).toEqual(tables);
});

test.each([
  ['a row by its key', 'select * from agents where workspace_id = $1 and id = $2'],
  [
    'a join by workspace',
    'select 1 from agents a left join agent_links l on l.workspace_id = a.workspace_id and l.agent_id = a.id where a.workspace_id = $1',
  ],
  [
    'a row that is stored',
    'insert into memories (workspace_id, id, agent_id, external_user_id, fact) values ($1, $2, $3, $4, $5)',
  ],
  ['steps of a turn', 'select * from turn_steps where workspace_id = $1 and turn_id = $2'],
  ['a reference table', 'select * from workspaces where name = $1'],
])('%s is not reported', async (_what, text) => {
  expect(await tablesOf(text)).toEqual([]);
});

test('a function that asks across workspaces is let through by its name', async () => {
  expect(await tablesOf('select * from conversations where follow_up_at < $1', 'findDueFollowUps')).toEqual([]);
});

test('what the program sends is noted with the function that sends it, and what a test sends is not', async () => {
  await removeUnconnectedExternalMcp(workspace.db, workspace.workspaceId, newId(), 1);
  await workspace.db.selectFrom('skills').select('license').execute();
  const sender = { file: 'db/queries/tools/externalMcps.ts', name: 'removeUnconnectedExternalMcp' };
  expect(originOfSent(/delete from "external_mcps"/)).toEqual(sender);
  expect(originOfSent(/select "license" from "skills"/)).toBeUndefined();
});

async function sources(folder: string): Promise<[string, string][]> {
  const root = join(import.meta.dirname, '../..');
  const files = (await readdir(join(root, folder), { recursive: true })).filter((file) => file.endsWith('.ts'));
  return await Promise.all(
    files.map(
      async (file) => [join(folder, file), await readFile(join(root, folder, file), 'utf8')] as [string, string],
    ),
  );
}

test('every function that may ask across workspaces exists', async () => {
  const text = (await sources('db/queries')).map(([, source]) => source).join('\n');
  const gone = Object.keys(ACROSS_WORKSPACES).filter((name) => !new RegExp(`function ${name}\\b`).test(text));
  expect(gone).toEqual([]);
});

/** Writes of the tables below that no turn needs to learn of. */
const NOT_REVISING = new Set(['insertAgent', 'beginDiscovery', 'noteRefresh']);

test('every write of what turns keep in memory raises the revision of its workspace', async () => {
  const WRITE =
    /(insertInto|updateTable|softDelete)\((\w+, )?'(http_tools|external_mcps|native_connections|skills|ai_models|agents)'/;
  const found: string[] = [];
  const wrong: string[] = [];
  for (const folder of ['db', 'domain', 'handlers', 'jobs', 'runtime', 'scripts/admin', 'server']) {
    for (const [file, source] of await sources(folder)) {
      // A function of the top level ends with a brace at the start of a line.
      for (const block of source.split('\n}\n').filter((each) => WRITE.test(each))) {
        const name = /(?:function|const) (\w+)(?![\s\S]*\n(?:export )?(?:async )?function )/.exec(block)?.[1] ?? '';
        found.push(name);
        if (!block.includes('revising(') && !NOT_REVISING.has(name)) wrong.push(`${name} (${file})`);
      }
    }
  }
  expect(found.length).toBeGreaterThanOrEqual(14);
  // softDelete itself names a table for the compiler only.
  expect(wrong.filter((each) => !each.startsWith('softDelete (db/queries/shared'))).toEqual([]);
});
