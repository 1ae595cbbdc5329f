import express from 'express';
import pg from 'pg';
import type { Statement } from './wire.ts';

/** Settings of the bare server, in BENCH_BARE. The statements are those of the service, as recorded from its connection. */
export interface BareSettings {
  databaseUrl: string;
  workspaceId: string;
  poolSize: number;
  /** The id of the agent in the recorded `getAgent`; the id of each request replaces it. */
  agentId: string;
  getAgent: Statement;
  listAgents: Statement;
  /** Names of the models by id. The service has them in memory, too. */
  modelNames: Record<string, string>;
  /** Whether statements are prepared once for each connection, as the service does. */
  prepare: boolean;
}

/*
 * The server that the service is compared with: plain Express and pg, with the same statements, role, row-level security and response
 * bodies. It has no keys, no validation, no request ids, no log, no metrics and no query builder.
 */
const settings = JSON.parse(process.env.BENCH_BARE ?? '') as BareSettings;
const pool = new pg.Pool({
  connectionString: settings.databaseUrl,
  max: settings.poolSize,
  options: `-c role=guildhall_app -c app.workspace_id=${settings.workspaceId}`,
});

function run(name: string, { text }: Statement, values: unknown[]) {
  return pool.query(settings.prepare ? { name, text, values } : { text, values });
}

const app = express();
app.disable('x-powered-by');
app.set('etag', false);

app.get('/agents/:id', async (request, response) => {
  const { text, values } = settings.getAgent;
  const bound = values.map((value) => (value === settings.agentId ? request.params.id : value));
  const row = (await run('getAgent', { text, values }, bound)).rows[0];
  response.json({
    publicId: row.id,
    name: row.name,
    description: row.description,
    avatarUrl: row.avatar_url,
    categories: row.categories,
    status: row.status,
    draftVersionNumber: row.draft_version_number,
    publishedVersionNumber: row.published_version_number,
    hasUnpublishedChanges: row.published_version_number === null || row.draft_digest !== row.published_digest,
    hasExternalChannel: row.has_channel,
    aiModelName: row.custom_model_name ?? settings.modelNames[row.ai_model_id] ?? null,
    systemPrompt: row.system_prompt,
    aiModelPublicId: row.ai_model_id,
    temperature: row.temperature,
    thinkingEnabled: row.thinking_enabled,
    thinkingEffort: row.thinking_effort,
    webSearchEnabled: row.web_search_enabled,
    sandboxEnabled: row.sandbox_enabled,
    genuiEnabled: row.genui_enabled,
    dynamicPromptEnabled: row.dynamic_prompt_enabled,
    audioListeningEnabled: row.audio_listening_enabled,
    audioResponseEnabled: row.audio_response_enabled,
    ttsVoice: row.tts_voice,
    longTermMemoryEnabled: row.long_term_memory_enabled,
    memoryCustomInstructions: row.memory_custom_instructions,
    messageDelayEnabled: row.message_delay_enabled,
    messageDelayType: row.message_delay_type,
    messageSplittingEnabled: row.message_splitting_enabled,
    followUpEnabled: row.follow_up_enabled,
    followUpAfterHours: row.follow_up_after_hours,
    followUpInactivityMinutes: row.follow_up_inactivity_minutes,
    followUpIntervalMinutes: row.follow_up_interval_minutes,
    followUpMaxAttempts: row.follow_up_max_attempts,
    followUpBusinessHoursStart: row.follow_up_business_hours_start,
    followUpBusinessHoursEnd: row.follow_up_business_hours_end,
    followUpPrompt: row.follow_up_prompt,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  });
});

app.get('/agents', async (_request, response) => {
  const { rows } = await run('listAgents', settings.listAgents, settings.listAgents.values);
  const total = Number(rows[0]?.total ?? 0);
  response.json({
    items: rows.map((row) => ({
      publicId: row.id,
      name: row.name,
      avatarUrl: row.avatar_url,
      status: row.status,
      draftVersionNumber: row.draft_version_number,
      publishedVersionNumber: row.published_version_number,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    })),
    page: 1,
    limit: 20,
    total,
    totalPages: Math.ceil(total / 20),
  });
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`bare http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void pool.end();
});
