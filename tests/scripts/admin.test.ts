import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hashApiKey } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { apiKeyRevoked } from '../../db/events.ts';
import { findApiKeysByHash } from '../../db/queries/workspaces/apiKeys.ts';
import { runAdmin } from '../../scripts/admin/run.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/db/database.ts';

type Result = { code: number; stdout: string; stderr: string };

let setting: TestDatabase;

beforeAll(async () => {
  setting = await createTestDatabase();
});

afterAll(() => setting.drop());

async function admin(args: string[], env: NodeJS.ProcessEnv = { DATABASE_URL: setting.url }): Promise<Result> {
  const result: Result = { code: -1, stdout: '', stderr: '' };
  result.code = await runAdmin(args, env, {
    out: (line) => {
      result.stdout += `${line}\n`;
    },
    err: (line) => {
      result.stderr += `${line}\n`;
    },
  });
  return result;
}

/** Runs the command as a process of its own. */
async function adminProcess(args: string[], env: Record<string, string>): Promise<Result> {
  const script = join(import.meta.dirname, '../../scripts/admin.ts');
  const { DATABASE_URL: _url, GUILDHALL_DATA_DIR: _folder, ...rest } = process.env;
  return await new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env: { ...rest, ...env } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
  });
}

/** The output of a command that must succeed with `--json`: exactly one line. */
async function json(args: string[], env?: NodeJS.ProcessEnv) {
  const { code, stdout, stderr } = await admin([...args, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
}

describe('key', () => {
  test('create prints the key, list does not, and revoke invalidates it and notifies the replicas', async () => {
    const { workspaceId } = await setting.seedWorkspace();
    const created = await json(['key', 'create', '--workspace', workspaceId, '--name', 'CI']);
    const listed = await json(['key', 'list', '--workspace', workspaceId]);
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({ apiKeyPublicId: created.apiKeyPublicId, name: 'CI', revokedAt: null });
    expect(JSON.stringify(listed)).not.toContain(created.apiKey);
    const { promise, resolve } = Promise.withResolvers<string>();
    await setting.database.listen(apiKeyRevoked.channel, resolve);
    const revoked = await json(['key', 'revoke', created.apiKeyPublicId]);
    expect(revoked.revokedAt).toEqual(expect.any(String));
    expect(await promise).toBe(created.apiKeyPublicId);
    expect(await findApiKeysByHash(setting.database.system, [hashApiKey(created.apiKey)])).toEqual([]);
  });

  test('of an unknown resource exits with 1 and names it', async () => {
    const id = newId();
    expect(await admin(['key', 'revoke', id])).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: There is no key ${id}\n`,
    });
    const { code, stdout } = await admin(['key', 'create', '--workspace', id, '--json']);
    expect({ code, answer: JSON.parse(stdout) }).toEqual({
      code: 1,
      answer: { error: { message: `There is no workspace ${id}` } },
    });
  });
});

describe('agent', () => {
  test('changes between all states, with the right draft numbers', async () => {
    const { workspaceId, db } = await setting.seedWorkspace();
    const id = newId();
    await db.insertInto('agents').values({ workspace_id: workspaceId, id, name: 'Ada' }).execute();
    const step = (verb: string) => json(['agent', verb, '--workspace', workspaceId, id]);
    const refused = async (verb: string) => (await admin(['agent', verb, '--workspace', workspaceId, id])).stderr;
    expect(await refused('activate')).toContain('never published');
    expect(await refused('unarchive')).toContain('not archived');
    expect(await step('archive')).toEqual({
      agentPublicId: id,
      status: 'archived',
      draftVersionNumber: null,
      publishedVersionNumber: null,
    });
    expect(await refused('deactivate')).toContain('unarchive it first');
    expect(await step('unarchive')).toMatchObject({ status: 'draft', draftVersionNumber: 1 });
    await db
      .updateTable('agents')
      .set({ status: 'active', published_version_number: 4, draft_version_number: 5 })
      .where('id', '=', id)
      .execute();
    expect(await step('deactivate')).toMatchObject({ status: 'inactive', draftVersionNumber: 5 });
    expect(await step('activate')).toMatchObject({ status: 'active', draftVersionNumber: 5 });
    await step('archive');
    expect(await step('unarchive')).toMatchObject({
      status: 'active',
      draftVersionNumber: 5,
      publishedVersionNumber: 4,
    });
  });

  test('of another workspace is unknown', async () => {
    const [ours, theirs] = [await setting.seedWorkspace(), await setting.seedWorkspace()];
    const id = newId();
    await theirs.db.insertInto('agents').values({ workspace_id: theirs.workspaceId, id, name: 'Ada' }).execute();
    expect(await admin(['agent', 'archive', '--workspace', ours.workspaceId, id])).toMatchObject({
      code: 1,
      stderr: `error: Workspace ${ours.workspaceId} has no agent ${id}\n`,
    });
  });
});

describe('model', () => {
  const model = (workspaceId: string) => [
    'model',
    'add',
    '--workspace',
    workspaceId,
    '--name',
    'House model',
    '--provider',
    'openai-compatible',
    '--model-id',
    'house-1',
    '--context-window',
    '32000',
    '--input-cost',
    '0.15',
    '--output-cost',
    '0.6',
  ];

  test('adds, lists and removes models; a model id is unique per provider', async () => {
    const { workspaceId } = await setting.seedWorkspace();
    const added = await json([...model(workspaceId), '--supports-image', '--max-temperature', '1']);
    expect((await admin(model(workspaceId))).stderr).toContain('already has the model house-1');
    expect(await json(['model', 'list', '--workspace', workspaceId])).toEqual([
      {
        aiModelPublicId: added.aiModelPublicId,
        name: 'House model',
        provider: 'openai-compatible',
        modelId: 'house-1',
        contextWindow: 32000,
        inputCostPer1MTokens: 0.15,
        outputCostPer1MTokens: 0.6,
        active: true,
      },
    ]);
    const row = await setting.database.system.selectFrom('ai_models').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      supports_image: true,
      supports_temperature: true,
      min_temperature: 0,
      max_temperature: 1,
    });
    await json(['model', 'remove', '--workspace', workspaceId, added.aiModelPublicId]);
    expect(await json(['model', 'list', '--workspace', workspaceId])).toEqual([]);
    await json([...model(workspaceId), '--no-temperature']);
  });

  test.each([
    [['--provider', 'acme'], '--provider must be one of openai, anthropic, google, openai-compatible, builtin'],
    [['--provider', 'constructor'], '--provider must be one of'],
    [['--context-window', '1.5'], '--context-window must be a whole number'],
    [['--input-cost', 'cheap'], '--input-cost must be a number'],
    [
      ['--min-temperature', '1.5', '--max-temperature', '1'],
      '--min-temperature must not be greater than --max-temperature',
    ],
    [['--no-temperature', '--max-temperature', '1'], '--no-temperature cannot be combined with'],
  ])('add %j is a usage error', async (extra, message) => {
    const { code, stderr } = await admin([...model(newId()), ...extra]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('a wrong command line', () => {
  const nowhere: NodeJS.ProcessEnv = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };

  test.each([
    [['frob'], 'Unknown noun "frob"'],
    [['constructor'], 'Unknown noun "constructor"'],
    [['workspace'], 'workspace needs a verb'],
    [['workspace', 'frob'], 'Unknown verb "frob" for workspace'],
    [['workspace', 'create'], 'Expected 1 argument(s), got 0'],
    [['workspace', 'create', ' '], 'NAME must have 1 to 200 characters'],
    [['workspace', 'create', 'x', '--agent-limit', '-1'], 'argument is ambiguous'],
    [['workspace', 'create', 'x', '--agent-limit=-1'], '--agent-limit must be a whole number from 0'],
    [['workspace', 'list', '--frob'], "Unknown option '--frob'"],
    [['key', 'create'], '--workspace is missing'],
    [['key', 'revoke', 'x'], 'KEYID must be a UUID'],
  ])('%j exits with 2, the reason and the usage, without opening a database', async (args, reason) => {
    const { code, stdout, stderr } = await admin(args, nowhere);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('Usage: npm run admin -- <noun> <verb>');
  });

  test.each([[['key', 'revoke']], [['key', 'revoke', 'not-a-uuid']], [['key', 'forge']]])(
    '%j prints the usage of this noun only',
    async (args) => {
      const { stderr } = await admin(args, nowhere);
      expect(stderr).toContain('key revoke KEYID');
      expect(stderr).not.toContain('workspace create');
    },
  );

  test.each([[[]], [['--help']], [['help']], [['key', '--help']]])('%j prints the help', async (args) => {
    const { code, stdout } = await admin(args, nowhere);
    expect(code).toBe(0);
    expect(stdout).toContain('key revoke KEYID');
  });
});

describe('the database', () => {
  test('is migrated when necessary', async () => {
    const empty = await createEmptyDatabase();
    expect(await json(['workspace', 'list'], { DATABASE_URL: empty.url })).toEqual([]);
    await empty.drop();
  });

  test('is the embedded one without DATABASE_URL, whether or not the service runs, and for two commands at once', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'guildhall-admin-'));
    await chmod(parent, 0o755);
    const env = { GUILDHALL_DATA_DIR: join(parent, 'data') };
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await adminProcess([...args, '--json'], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    try {
      const [one, two] = await Promise.all([
        command('workspace', 'create', 'One'),
        command('workspace', 'create', 'Two'),
      ]);
      const script = join(import.meta.dirname, '../db/embeddedService.ts');
      const service = spawn(process.execPath, [script, env.GUILDHALL_DATA_DIR, '3000'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = once(service, 'close');
      try {
        await once(createInterface({ input: service.stdout }), 'line');
        const three = await command('workspace', 'create', 'Three');
        const rows: { workspacePublicId: string }[] = await command('workspace', 'list');
        const made = [one, two, three].map((workspace) => workspace.workspacePublicId);
        expect(rows.map((row) => row.workspacePublicId).sort()).toEqual(made.sort());
        expect(service.exitCode).toBeNull();
      } finally {
        service.kill('SIGTERM');
        await ended;
      }
    } finally {
      await rm(parent, { recursive: true, force: true });
    }
  });

  test('is unreachable: the process exits with 1', async () => {
    const { code, stderr } = await adminProcess(['workspace', 'list'], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('ECONNREFUSED');
  });
});
