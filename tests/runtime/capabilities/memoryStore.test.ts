import { sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import {
  forgetMemory,
  forgetUser,
  MAX_MEMORIES,
  type MemoryFact,
  memoryFactsSql,
  rememberFact,
  selectUserMemories,
} from '../../../db/queries/conversations/memories.ts';
import type { AgentScope } from '../../../runtime/agent/tool.ts';
import { adminQuery, untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { newScope } from '../../support/turns/agentScope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
const remember = (scope: AgentScope, fact: string, ms: number) =>
  rememberFact(scope.db, scope.workspaceId, scope, fact, at(ms));
const known = async ({ db, workspaceId, ...owner }: AgentScope) =>
  (await selectUserMemories(db, workspaceId, owner)).map(({ fact }) => fact);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Facts 0, 1, … one millisecond after the other. */
async function fill(scope: AgentScope, count: number): Promise<void> {
  const row = { workspace_id: scope.workspaceId, agent_id: scope.agentId, external_user_id: scope.externalUserId };
  const rows = upTo(count).map((n) => ({
    ...row,
    id: newId(),
    fact: `Fact ${n}`,
    created_at: at(n),
    updated_at: at(n),
  }));
  await scope.db.insertInto('memories').values(rows).execute();
}

describe('rememberFact', () => {
  test('refreshes a known fact, and never sets its time back', async () => {
    const scope = await newScope(app);
    const first = await remember(scope, 'a', 1);
    await remember(scope, 'b', 2);
    expect(first.isNew).toBe(true);
    expect(await remember(scope, 'a', 3)).toEqual({ id: first.id, isNew: false });
    expect(await known(scope)).toEqual(['a', 'b']);
    await remember(scope, 'a', 0);
    const rows = await selectUserMemories(scope.db, scope.workspaceId, scope);
    expect(rows).toMatchObject([
      { fact: 'a', created_at: at(1), updated_at: at(3) },
      { fact: 'b', created_at: at(2), updated_at: at(2) },
    ]);
  });

  test('removes the fact that was refreshed the longest time ago', async () => {
    const scope = await newScope(app);
    await fill(scope, MAX_MEMORIES);
    await remember(scope, 'Fact 0', 1_000);
    expect(await known(scope)).toHaveLength(MAX_MEMORIES);
    await remember(scope, 'new', 1_001);
    const facts = await known(scope);
    expect(facts).toHaveLength(MAX_MEMORIES);
    expect(facts.slice(0, 2)).toEqual(['new', 'Fact 0']);
    expect(facts).not.toContain('Fact 1');
  });

  test('keeps the new fact, also when the clock was set back', async () => {
    const scope = await newScope(app);
    await fill(scope, MAX_MEMORIES);
    await remember(scope, 'new', -1_000);
    expect(await known(scope)).toContain('new');
    expect(await known(scope)).toHaveLength(MAX_MEMORIES);
  });

  test('stores one row for concurrent calls with the same fact', async () => {
    const scope = await newScope(app);
    const made = await Promise.all(upTo(8).map((n) => remember(scope, 'same', n)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await known(scope)).toEqual(['same']);
  });

  test('keeps the limit when many facts are stored concurrently', async () => {
    const scope = await newScope(app);
    await fill(scope, MAX_MEMORIES - 3);
    await Promise.all(upTo(24).map((n) => remember(scope, `new ${n}`, 10_000 + n)));
    const facts = await known(scope);
    expect(facts).toHaveLength(MAX_MEMORIES);
    expect(facts.slice(0, 24).sort()).toEqual(
      upTo(24)
        .map((n) => `new ${n}`)
        .sort(),
    );
  });

  test('waits only for the same user of the same agent', async () => {
    const scope = await newScope(app, { externalUserId: 'ann' });
    const others = [{ ...scope, externalUserId: 'bob' }, await newScope(app, { externalUserId: 'ann' })];
    const name = `memories of ${scope.workspaceId} ${scope.agentId} ann`;
    let waiting: Promise<unknown> = Promise.resolve();
    await app.database.database.system.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
      for (const other of others) await remember(other, 'a', 1);
      waiting = remember(scope, 'a', 1);
      await untilOneWaits(app.database.name);
      expect(await known(scope)).toEqual([]);
    });
    await waiting;
    expect(await known(scope)).toEqual(['a']);
  });

  test.each(['', 'x'.repeat(1_001)])('refuses a fact that is empty or too long', async (fact) => {
    await expect(remember(await newScope(app), fact, 1)).rejects.toMatchObject({ code: '23514' });
  });
});

describe('forgetting', () => {
  test('a fact is removed once, and returned', async () => {
    const scope = await newScope(app);
    const { id } = await remember(scope, 'a', 1);
    const other = { agentId: scope.agentId, externalUserId: 'other' };
    expect(await forgetMemory(scope.db, scope.workspaceId, other, id)).toBeUndefined();
    const answers = await Promise.all(upTo(4).map(() => forgetMemory(scope.db, scope.workspaceId, scope, id)));
    expect(answers.filter((fact) => fact !== undefined)).toEqual(['a']);
  });

  test('a user removes all facts, of one agent or of all agents of the workspace', async () => {
    const user = { externalUserId: 'forgotten' };
    const [one, two, theirs] = [
      await newScope(app, user),
      await newScope(app, user),
      await newScope(app, { ...user, workspace: app.stranger }),
    ];
    const neighbour = { ...one, externalUserId: 'kept' };
    for (const scope of [one, two, theirs, neighbour]) for (const fact of ['a', 'b']) await remember(scope, fact, 1);
    expect(await forgetUser(one.db, one.workspaceId, { ...user, agentId: one.agentId })).toBe(2);
    expect([await known(one), await known(two)]).toEqual([[], ['b', 'a']]);
    expect(await forgetUser(one.db, one.workspaceId, user)).toBe(2);
    expect([await known(two), await known(theirs), await known(neighbour)]).toEqual([[], ['b', 'a'], ['b', 'a']]);
  });

  test('facts are deleted with the row of their agent', async () => {
    const scope = await newScope(app);
    await remember(scope, 'a', 1);
    await adminQuery(`delete from agents where id = '${scope.agentId}'`, app.database.name);
    expect(await known(scope)).toEqual([]);
  });
});

describe('memoryFactsSql', () => {
  const read = async ({ db, workspaceId, agentId, externalUserId }: AgentScope, system = false) => {
    const { rows } = await sql<{ facts: MemoryFact[] }>`
      select ${memoryFactsSql(sql`w.id`, sql`a.id`, sql`${externalUserId}`)} as facts
      from agents a join workspaces w on w.id = a.workspace_id
      where w.id = ${workspaceId} and a.id = ${agentId}`.execute(system ? app.database.database.system : db);
    return rows[0]?.facts;
  };

  test('reads the newest 50 facts of the user at the agent, newest first', async () => {
    const scope = await newScope(app);
    await fill(scope, 60);
    await remember({ ...scope, externalUserId: 'other' }, 'not this one', 1_000);
    const facts = await read(scope);
    expect(facts?.map(({ fact }) => fact)).toEqual(upTo(50).map((n) => `Fact ${59 - n}`));
    const [newest] = await selectUserMemories(scope.db, scope.workspaceId, scope);
    expect(facts?.[0]).toEqual({ id: newest?.id, fact: 'Fact 59' });
  });

  test('returns an empty list when nothing is known', async () => {
    expect(await read(await newScope(app))).toEqual([]);
  });

  test('reads only the workspace, also without row-level security', async () => {
    const scope = await newScope(app);
    const id = newId();
    const stranger = await newScope(app, { workspace: app.stranger });
    await app.stranger.db
      .insertInto('agents')
      .columns(['workspace_id', 'id', 'name'])
      .expression((eb) =>
        eb
          .selectFrom('agents')
          .select([sql.lit(app.stranger.workspaceId).as('w'), sql.lit(scope.agentId).as('i'), sql.lit('Twin').as('n')])
          .where('id', '=', stranger.agentId),
      )
      .execute();
    await remember({ ...stranger, agentId: scope.agentId, externalUserId: scope.externalUserId }, `theirs ${id}`, 1);
    await remember(scope, 'ours', 1);
    expect((await read(scope, true))?.map(({ fact }) => fact)).toEqual(['ours']);
  });
});
