import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../core/ids.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import type { PromptAnswer } from './promptServer.ts';
import type { World } from './world.ts';

/** The user of the conversation, of whom facts are known. */
export const ASKER = 'operator-7';

const FACTS = [
  'Runs three replicas behind a pooler.',
  'Prefers short answers with the name of the setting.',
  'Is on call in the week of 23 November.',
  'Writes in English, and reads German.',
];
/** Documents of this repository, as an operator would give them to an agent that helps other operators. */
const DOCUMENTS = ['run-time.md', 'operating.md', 'channels.md', 'performance.md'];

const SYSTEM_PROMPT = `You are the assistant of the team that operates an agent service for several customers.

Whoever writes to you is an operator on call. They are short of time, and they know the service well. Answer what is asked first, then what follows from it. Name the setting, the command or the table that the answer is about, and the document in which it stands. Say so plainly when the documents do not answer.

Use the tools before you state anything about the present state of the service: never guess what a replica, a job or a conversation is doing. When a tool fails, say which one, and what you would have looked for. Do not call a tool that changes something unless the operator asked for the change in so many words; then repeat in one sentence what was changed.

Never show secrets, keys or the content of customers' conversations. Give times in UTC with the word UTC. Figures have their unit.`;

/** Name, description and the properties of the input. The first ones are called in the conversation. */
const TOOLS: [name: string, description: string, properties: Record<string, string>][] = [
  [
    'replica_state',
    'Tells what one replica is doing: its turns, jobs, memory and connections.',
    { replica: 'Name of the replica.', window: 'Minutes to look back.' },
  ],
  [
    'find_turns',
    'Lists turns of a workspace with their status, model, duration and error.',
    { workspace: 'Id of the workspace.', status: 'One of running, done, failed, interrupted.', limit: 'Most turns.' },
  ],
  ['show_turn', 'Shows the steps of one turn, without the texts of messages.', { turn: 'Id of the turn.' }],
  [
    'job_queue',
    'Tells the length and the age of the queues of background work.',
    { queue: 'Name of the queue.', older_than: 'Seconds.' },
  ],
  [
    'slow_statements',
    'Lists the statements of the database that took longest.',
    { window: 'Minutes to look back.', limit: 'Most statements.' },
  ],
  ['read_setting', 'Reads the value of a setting of one replica.', { replica: 'Its name.', name: 'Of the setting.' }],
  [
    'change_setting',
    'Changes a setting of all replicas, which restarts them one by one.',
    { name: 'Of the setting.', value: 'New value.' },
  ],
  ['pause_connection', 'Pauses a connection of a channel.', { connection: 'Its id.', reason: 'For the log.' }],
  ['open_incident', 'Opens an incident and calls the second person on call.', { title: 'Short.', severity: '1 to 4.' }],
  ['note_incident', 'Adds a note to the open incident.', { text: 'One paragraph.' }],
];

/** What the HTTP tools answer: a report of ordinary length. */
function report(name: string): string {
  const rows = Array.from({ length: 8 }, (_, i) => ({
    id: `${name}-${4711 + i}`,
    status: i % 3 === 0 ? 'running' : 'done',
    started_at: `2026-11-23T0${i}:12:4${i}Z`,
    duration_ms: 1_200 + 37 * i,
    replica: `eu-${(i % 3) + 1}`,
  }));
  return JSON.stringify({ name, total: rows.length, rows });
}

/** A turn: what the operator writes, and what the model answers, request by request. */
export interface PromptTurn {
  content: string;
  answers: PromptAnswer[];
}

const said = (text: string, ...calls: PromptAnswer['calls']): PromptAnswer => ({ text, calls });

/** Six turns. Five of them call tools, one of them two together, and one looks further in the knowledge. */
export const PROMPT_TURNS: readonly PromptTurn[] = [
  {
    content: 'Replica eu-2 was killed at four. What happened to the turns that ran there?',
    answers: [
      said('I will look at the replica first.', { name: 'replica_state', input: { window: 60, replica: 'eu-2' } }),
      said(
        'Two turns were running on eu-2 when it ended at 04:12 UTC. Their conversations are free again after 20 seconds, when the lease expires, and the turns are marked as interrupted within a minute. The message of the user stays, with all steps until then. A tool call that was running may have been made, and it is not made again. Both conversations have had a turn since, so nobody waits.',
      ),
    ],
  },
  {
    content: 'And were their tool calls made twice?',
    answers: [
      said('', { name: 'find_turns', input: { workspace: 'acme', status: 'interrupted', limit: 5 } }),
      said('', { name: 'show_turn', input: { turn: 'find_turns-4711' } }),
      said(
        'No. Of the two turns one had begun a call. It stands as running in its steps, and no later turn repeats it: a call is stored before it is made, so that its outcome is unknown and never lost. The other turn had not called anything.',
      ),
    ],
  },
  {
    content: 'How do I give them more time before they are stopped?',
    answers: [
      said('Let me see what the documents say.', {
        name: 'search_knowledge',
        input: { query: 'time to let running turns end when a process stops', limit: 4 },
      }),
      said(
        'A process that must stop lets its turns run for 15 seconds more, and then fails them with UNAVAILABLE. GUILDHALL_DRAIN_SECONDS sets it. Give the orchestrator at least ten seconds more than that, or it kills the process before it has drained.',
      ),
    ],
  },
  {
    content: 'What is it on eu-1 and eu-3 now?',
    answers: [
      said(
        '',
        { name: 'read_setting', input: { replica: 'eu-1', name: 'GUILDHALL_DRAIN_SECONDS' } },
        { name: 'read_setting', input: { replica: 'eu-3', name: 'GUILDHALL_DRAIN_SECONDS' } },
      ),
      said('Both have the default of 15 seconds. I have changed nothing.'),
    ],
  },
  {
    content: 'Does a longer drain delay deliveries over WhatsApp?',
    answers: [
      said(
        'Not those that are stored already: each reply is a row in `deliveries` before it is sent, and any process with background work sends it. A reply whose turn still runs is sent when the turn ends. So a longer drain lets more replies be sent by the turn that made them, and fewer turns fail and are tried again after 5 seconds.',
      ),
    ],
  },
  {
    content: 'Good. Is any queue behind at the moment?',
    answers: [
      said('I look at the queue of deliveries and at the oldest job.', {
        name: 'job_queue',
        input: { queue: 'deliver-message', older_than: 30 },
      }),
      said('None is. The oldest job of `deliver-message` is 4 seconds old, and eight are running.'),
    ],
  },
];

/** An agent with knowledge, memory, a sandbox and ten tools. */
export interface PromptAgent {
  agentId: string;
  /** Publishes it on another model. */
  use(modelId: string): Promise<void>;
  close(): Promise<void>;
}

/** Makes the agent through the API of a running service. */
export async function makePromptAgent(world: World, serviceUrl: string): Promise<PromptAgent> {
  const api = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(serviceUrl + API_PREFIX + path, {
      method,
      headers: { ...world.headers, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${answer}`);
    return answer === '' ? {} : JSON.parse(answer);
  };
  const tools = await startTools();
  const origin = `http://127.0.0.1:${(tools.address() as AddressInfo).port}`;
  const { publicId: agentId } = await api('POST', '/agents', { name: 'Operations' });
  const path = `/agents/${agentId}`;
  await api('PATCH', path, {
    systemPrompt: SYSTEM_PROMPT,
    longTermMemoryEnabled: true,
    sandboxEnabled: true,
  });
  for (const [name, description, properties] of TOOLS) {
    const inputSchema = {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, about]) => [key, { type: ['string', 'number'], description: about }]),
      ),
      required: Object.keys(properties).slice(0, 1),
    };
    const configuration = { method: 'POST', url: `${origin}/${name}`, inputSchema };
    const tool = await api('POST', '/http-tools', { name, description, toolType: 'HTTP_REQUEST', configuration });
    await api('POST', `${path}/http-tools`, { httpToolPublicId: tool.publicId });
  }
  for (const name of DOCUMENTS) {
    const textContent = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
    const { publicId } = await api('POST', '/knowledge-sources', { name, textContent });
    for (let status = ''; status !== 'COMPLETED'; await sleep(50)) {
      status = String((await api('GET', `/knowledge-sources/${publicId}`)).processingStatus);
      if (status === 'FAILED') throw new Error(`${name} was not processed.`);
    }
    await api('POST', `${path}/knowledge-sources`, { knowledgeSourcePublicId: publicId });
  }
  for (const fact of FACTS) {
    await world.query(`insert into memories (workspace_id, id, agent_id, external_user_id, fact)
      values ('${world.workspaceId}', '${newId()}', '${agentId}', '${ASKER}', '${fact}')`);
  }
  return {
    agentId: String(agentId),
    async use(modelId) {
      await api('PATCH', path, { aiModelPublicId: modelId });
      await api('POST', `${path}/publish`);
    },
    close: () =>
      new Promise((resolve) => {
        tools.close(() => resolve());
        tools.closeAllConnections();
      }),
  };
}

function startTools(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(report((request.url ?? '').slice(1)));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
