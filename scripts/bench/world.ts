import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { displayApiKey, hashApiKey, mintApiKey } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { insertApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import { insertWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import { globalModelId } from '../../runtime/models/catalogue.ts';
import { readConfig } from '../../server/config.ts';
import type { BareSettings } from './bareServer.ts';
import { type Child, type ChildOptions, killChildren, startChild } from './children.ts';
import { startTimedModelServer, type TimedModelServer } from './modelServer.ts';
import { type Statement, tapDatabase } from './wire.ts';

const SERVICE_READY = /^ready (http\S+)$/m;
const PACKAGE = new URL('../../package.json', import.meta.url);
const MODEL_ID = 'bench-model';
const AGENTS = 20;
/** A system prompt of realistic length. */
const SYSTEM_PROMPT =
  'You are the assistant of a small shop. Answer in two sentences, politely, and never promise a delivery date. '.repeat(
    8,
  );

/** Round trips to the database for each operation, counted in the messages of the protocol. */
export type RoundTrips = Record<
  'getAgent' | 'listAgents' | 'sendMessage (new conversation)' | 'sendMessage (continued)',
  number
>;

/** The parts that all measures share: a database with a workspace, and functions that start the servers to compare. */
export interface World {
  folder: string;
  databaseUrl: string;
  workspaceId: string;
  agentId: string;
  /** The id of the model that agents run on. */
  modelId: string;
  /** Headers of a request to the service. */
  headers: Record<string, string>;
  /** A `sendMessage` that begins a conversation. */
  message: string;
  /** The request that the service sends to its model for `message`, without the headers of the connection. */
  modelRequest: { path: string; headers: Record<string, string>; body: string };
  roundTrips: RoundTrips;
  /** A model server in this process that records its times. It is slow on purpose. */
  timedModels: TimedModelServer;
  /** Starts the service on the shared database. */
  startService(options?: BenchServiceOptions): Promise<Child>;
  /** Starts the bare server, after a check that its responses equal those of the service. */
  startBare(service: Child, prepare: boolean): Promise<Child>;
  /** Makes another workspace with a published agent like the first one's, through a running service. */
  addWorkspace(service: Child): Promise<{ agentId: string; headers: Record<string, string> }>;
  /** Starts the model server that answers without delay, in a process of its own. */
  startModels(): Promise<Child>;
  /** Runs a query on the shared database, without row-level security. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** Deviations of a service from its defaults. */
export interface BenchServiceOptions {
  modelUrl?: string;
  env?: Record<string, string>;
  nodeArgs?: readonly string[];
}

/** How `npm start` starts the service: environment, Node options and script, read from its command. */
export function startCommand(): Pick<ChildOptions, 'script' | 'nodeArgs' | 'readyLine'> & {
  env: Record<string, string>;
} {
  const { start } = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { start: string } }).scripts;
  const [, settings = '', args = ''] = /^((?:\w+=\S+ )*)exec node (.+)$/.exec(start) ?? [];
  const words = args.split(' ');
  const script = words.pop();
  if (!script) throw new Error(`The benchmark does not understand how \`npm start\` starts the service: ${start}`);
  const env = Object.fromEntries(
    settings
      .trim()
      .split(' ')
      .filter(Boolean)
      .map((setting) => setting.split('=')),
  );
  return { script, nodeArgs: words, env, readyLine: SERVICE_READY };
}

/** Builds the world: an embedded PostgreSQL with its usual settings in a folder of its own, 20 agents, one of them published. */
export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-bench-'));
  const postgres = await startEmbedded({ dataDir: join(folder, 'shared') });
  try {
    return await furnish(folder, postgres);
  } catch (error) {
    killChildren();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function furnish(folder: string, postgres: EmbeddedPostgres): Promise<World> {
  const databaseUrl = postgres.url();
  await migrate(databaseUrl);
  const { workspaceId, apiKey } = await makeWorkspace(databaseUrl);
  const timedModels = await startTimedModelServer();
  const admin = new pg.Pool({ connectionString: postgres.adminUrl.replace(/[^/]*$/, 'guildhall'), max: 1 });
  // A connection that is still closing when the server stops is told so.
  admin.on('error', () => {});
  const headers = { 'x-api-key': apiKey };
  const modelId = globalModelId('openai-compatible', MODEL_ID);
  let logs = 0;

  const startService = ({
    modelUrl = timedModels.url,
    env = {},
    nodeArgs = [],
  }: BenchServiceOptions = {}): Promise<Child> => {
    logs += 1;
    const command = startCommand();
    return startChild({
      ...command,
      env: {
        ...command.env,
        PORT: '0',
        DATABASE_URL: databaseUrl,
        OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
        OPENAI_COMPATIBLE_MODELS: MODEL_ID,
        ...env,
      },
      nodeArgs: [...(command.nodeArgs ?? []), ...nodeArgs],
      logFile: join(folder, `service-${logs}.log`),
    });
  };

  const seen = await seed({ databaseUrl, startService, headers, modelId, timedModels });
  const world: World = {
    folder,
    databaseUrl,
    workspaceId,
    modelId,
    headers,
    ...seen,
    timedModels,
    startService,
    async startBare(service, prepare) {
      const bare = await startChild({
        script: 'scripts/bench/bareServer.ts',
        env: {
          BENCH_BARE: JSON.stringify({
            databaseUrl,
            workspaceId,
            poolSize: readConfig({}).poolSize,
            agentId: seen.agentId,
            getAgent: seen.statements.getAgent,
            listAgents: seen.statements.listAgents,
            modelNames: { [modelId]: seen.modelName },
            prepare,
          } satisfies BareSettings),
        },
        readyLine: /^bare (http\S+)$/m,
      });
      for (const path of [`/agents/${seen.agentId}`, '/agents']) {
        const bodies = await Promise.all([
          getJson(`${service.url}${API_PREFIX}${path}`, headers),
          getJson(bare.url + path, {}),
        ]);
        if (!isDeepStrictEqual(...bodies))
          throw new Error(`The bare server returns another response for ${path} than the service.`);
      }
      return bare;
    },
    async addWorkspace(service) {
      const { apiKey } = await makeWorkspace(databaseUrl);
      const own = { 'x-api-key': apiKey };
      const api = (method: string, path: string, body?: object) =>
        callJson(service.url + API_PREFIX + path, method, own, body);
      const agentId = String((await api('POST', '/agents', { name: 'Shop assistant' })).publicId);
      await api('PATCH', `/agents/${agentId}`, { aiModelPublicId: modelId, systemPrompt: SYSTEM_PROMPT });
      await api('POST', `/agents/${agentId}/publish`);
      return { agentId, headers: own };
    },
    startModels: () => startChild({ script: 'tests/support/servers/modelServerCli.ts', readyLine: /^(http\S+)$/m }),
    query: async <Row extends pg.QueryResultRow>(text: string) => (await admin.query<Row>(text)).rows,
    async close() {
      await admin.end();
      await timedModels.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}

async function makeWorkspace(databaseUrl: string): Promise<{ workspaceId: string; apiKey: string }> {
  const database = connectDatabase(databaseUrl, { poolSize: 2 });
  const workspaceId = newId();
  const apiKey = mintApiKey();
  await insertWorkspace(database.system, { id: workspaceId, name: 'bench' });
  const display = displayApiKey(apiKey);
  await insertApiKey(database.system, { id: newId(), workspaceId, name: 'bench', hash: hashApiKey(apiKey), display });
  await database.end();
  return { workspaceId, apiKey };
}

interface SeedParts {
  databaseUrl: string;
  startService: World['startService'];
  headers: Record<string, string>;
  modelId: string;
  timedModels: TimedModelServer;
}

/** Fills the workspace through the API of a service whose statements are recorded. */
async function seed({ databaseUrl, startService, headers, modelId, timedModels }: SeedParts) {
  const tap = await tapDatabase(databaseUrl);
  // The role without the queue, which would add statements.
  const service = await startService({ env: { DATABASE_URL: tap.url, GUILDHALL_ROLE: 'api' } });
  const api = (method: string, path: string, body?: object) =>
    callJson(service.url + API_PREFIX + path, method, headers, body);
  const ids: string[] = [];
  for (let i = 0; i < AGENTS; i += 1) {
    const { publicId } = await api('POST', '/agents', {
      name: `Shop assistant ${i + 1}`,
      description: 'Answers questions about orders and opening hours.',
      categories: ['support', 'retail'],
    });
    ids.push(String(publicId));
  }
  const agentId = ids[AGENTS >> 1] ?? '';
  const { aiModelName } = await api('PATCH', `/agents/${agentId}`, {
    aiModelPublicId: modelId,
    systemPrompt: SYSTEM_PROMPT,
  });
  await api('POST', `/agents/${agentId}/publish`);

  const messages = `/agents/${agentId}/messages`;
  const content = 'Where is my order 4711?';
  let conversationId = '';
  const send = async (body: object) => {
    conversationId = String((await api('POST', messages, body)).conversationId);
  };
  // Two calls that are not recorded: they open the connection, cache the key and prepare the statements.
  const observe = async (work: () => Promise<unknown>) => {
    await work();
    await work();
    return tap.during(async () => void (await work()));
  };
  const one = await observe(() => api('GET', `/agents/${agentId}`));
  const list = await observe(() => api('GET', '/agents'));
  const begun = await observe(() => send({ content }));
  const { path, headers: sent, body } = timedModels.last;
  const continued = await observe(() => send({ content, conversationId }));
  await service.stop();
  await tap.close();
  const { host: _host, connection: _connection, 'content-length': _length, ...modelHeaders } = sent;
  return {
    agentId,
    modelName: String(aiModelName),
    message: JSON.stringify({ content }),
    modelRequest: { path, headers: modelHeaders, body },
    statements: { getAgent: only(one.statements), listAgents: only(list.statements) },
    roundTrips: {
      getAgent: one.roundTrips,
      listAgents: list.roundTrips,
      'sendMessage (new conversation)': begun.roundTrips,
      'sendMessage (continued)': continued.roundTrips,
    },
  };
}

function only(statements: Statement[]): Statement {
  const [statement, ...more] = statements;
  if (!statement || more.length > 0)
    throw new Error(
      `The bare server supports one statement for each operation, not: ${statements.map(({ text }) => text).join('; ')}`,
    );
  return statement;
}

async function callJson(url: string, method: string, headers: Record<string, string>, body?: object) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function getJson(url: string, headers: Record<string, string>) {
  return callJson(url, 'GET', headers);
}
