import { agentWith, postTool } from '../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { type ModelServer, type Step, startModelServer } from '../support/servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { freshFolder, type ServiceProcess, startService } from './service.ts';

/** The tools that an agent asks for in each step, by the word after the name of a turn, as in `K4 help`; then it answers. */
export const PLANS: Record<string, string[][]> = {
  plain: [],
  pay: [['pay']],
  both: [['pay', 'look']],
  two: [['pay'], ['look']],
  wire: [['wire']],
  wirepay: [['wire'], ['pay']],
  help: [['helper']],
  payhelp: [['payer']],
  mixed: [['payer', 'look']],
  twice: [['payer', 'payer2']],
};
/** What the sub-agent is asked to do, by the tool of a plan. */
const TASKS: Record<string, string> = { helper: 'a wire', payer: 'a pay', payer2: 'b pay' };

/**
 * Agents, a model and tools whose answers a test holds back, so that each turn is at a known point when its process dies. What is asked has a name:
 * `K1 model 1` is the second answer of the agent to K1, `K4a helper 0` the first of its sub-agent, `K1 wire` a call.
 */
export interface Workshop {
  app: TestApp;
  server: ModelServer;
  tools: ToolServer;
  /** What is not answered. */
  held: Set<string>;
  /** What is answered when the promise settles. */
  late: Map<string, Promise<void>>;
  /** What has been asked. */
  asked: string[];
  /** The calls of tools among it. */
  calls(): string[];
  /** An agent with `pay`, `look`, `wire`, which needs an approval, and a sub-agent that pays and wires. */
  agent(): Promise<string>;
  /** An agent that can only pay. */
  payer(setup: object): Promise<string>;
  startProcess(env?: NodeJS.ProcessEnv): Promise<ServiceProcess>;
  close(): Promise<void>;
}

/** Opens it. */
export async function openWorkshop(): Promise<Workshop> {
  const [server, tools] = await Promise.all([startModelServer(), startToolServer()]);
  const app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  const held = new Set<string>();
  const late = new Map<string, Promise<void>>();
  const asked: string[] = [];
  const stepFor = answersOf({ held, late, asked });
  Object.defineProperty(server, 'fallback', { get: () => stepFor(server.requests.at(-1)?.body ?? {}), set: () => {} });
  for (const path of ['/pay', '/look', '/wire'])
    tools.on(path, async ({ body }, response) => {
      const key = `${JSON.parse(body).city} ${path.slice(1)}`;
      asked.push(key);
      if (held.has(key)) return;
      await late.get(key);
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`Did ${key}.`);
    });
  const tool = async (name: string, fields = {}) => {
    const { publicId: id } = await postTool(app, tools, `/${name}`, { name, ...fields });
    return { kind: 'http_tool' as const, id };
  };
  const [pay, look] = [await tool('pay'), await tool('look')];
  const wire = await tool('wire', { requiresApproval: true });
  return {
    app,
    server,
    tools,
    held,
    late,
    asked,
    calls: () => asked.filter((key) => /^\w+ \w+$/.test(key)),
    async agent() {
      const helper = await agentWith(app, [pay, wire], { name: 'helper', systemPrompt: 'You help.' });
      const change = { description: 'Helps.' };
      return agentWith(app, [pay, look, wire, { kind: 'sub_agent', id: helper, change }]);
    },
    payer: (setup) => agentWith(app, [pay], setup),
    startProcess: async (env = {}) =>
      startService({
        ...app.env,
        GUILDHALL_DATA_DIR: await freshFolder(),
        GUILDHALL_RATE_LIMIT: '0',
        GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
        OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
        OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
        OPENAI_COMPATIBLE_MODELS: 'local-model',
        ...env,
      }),
    async close() {
      await app.close();
      await Promise.all([tools.close(), server.close()]);
    },
  };
}

/** The beginning of an answer that never ends. */
async function* half() {
  yield 'Half of ';
  await new Promise(() => {});
}

async function* after(moment: Promise<void>, text: string) {
  await moment;
  yield text;
}

/** The answers of the stand-in for the model: what comes next after what the request has. */
function answersOf({ held, late, asked }: Pick<Workshop, 'held' | 'late' | 'asked'>) {
  return (body: Record<string, unknown>): Step => {
    const messages = body.messages as { role: string; content: unknown; tool_calls?: unknown[] }[];
    const isHelper = JSON.stringify(messages[0]).includes('You help.');
    const asks = messages.findLastIndex(({ role, content }) => role === 'user' && /K\d+/.test(JSON.stringify(content)));
    const [, point = '', plan = 'plain'] = /(K\d+\w*)(?: (\w+))?/.exec(JSON.stringify(messages[asks]?.content)) ?? [];
    // It says that a person decides.
    if (body.tool_choice === 'none') return { reply: 'Wait.' };
    const done = messages.slice(asks).filter(({ tool_calls }) => tool_calls !== undefined).length;
    const key = `${point} ${isHelper ? 'helper' : 'model'} ${done}`;
    asked.push(key);
    if (held.has(key)) return body.stream === true ? { reply: half() } : { silence: true };
    const moment = late.get(key);
    late.delete(key);
    const say = (text: string) => (moment ? after(moment, text) : text);
    const names = PLANS[plan]?.[done];
    if (!names) return { reply: say(isHelper ? `Helped ${point}.` : `Done ${point}.`) };
    const toolCalls = names.map((name, place) => ({
      id: `call_${point}_${done}_${place}`,
      name: TASKS[name] ? 'delegate_to_helper' : name,
      arguments: JSON.stringify(TASKS[name] ? { task: point + TASKS[name] } : { city: point }),
    }));
    return { reply: say(`Step ${done}.`), toolCalls };
  };
}
